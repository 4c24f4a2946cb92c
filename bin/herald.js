#!/usr/bin/env node
// No static import and no newer syntax: a Node.js that is too old must get as far as the sentence that says so.
void import('./check-node.cjs')
  .then(() => import('node:fs'))
  .then(fs => {
    const main = new URL('../dist/cli/index.js', import.meta.url)
    if (fs.existsSync(main)) return import(main.href)
    console.error('Herald is not built yet. Run: npm run build')
    process.exit(1)
  })
