// node --import ./scripts/typescript-5.mjs: for programs that need the JavaScript API of the compiler, which TypeScript 7 does not have.
import { register } from 'node:module'

const hook = `export const resolve = (name, context, next) => next(name === 'typescript' ? 'typescript-5' : name, context)`
register(`data:text/javascript,${encodeURIComponent(hook)}`)
