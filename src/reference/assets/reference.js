// Enhancement only: the page works without it.
const all = selector => [...document.querySelectorAll(selector)]
for (const element of all('.copy, .try, label.find, label.key')) element.hidden = false

// The API reference was at /docs before: links to its anchors lead there.
const anchor = location.hash.slice(1)
if (location.pathname === '/docs' && anchor && !document.getElementById(anchor))
  fetch('/docs/api')
    .then(async response => {
      const reference = new DOMParser().parseFromString(await response.text(), 'text/html')
      if (reference.getElementById(anchor)) location.replace(`/docs/api#${anchor}`)
    })
    .catch(() => {
      // The service does not answer: this page stays, and has a link to the reference.
    })

// The language is remembered.
const remembered = () => {
  try {
    return localStorage.getItem('herald-language')
  } catch {
    return null // storage is switched off
  }
}
const choice = document.getElementById(`in-${remembered()}`)
if (choice) choice.checked = true
for (const radio of all('[name=language]'))
  radio.addEventListener('change', () => {
    try {
      localStorage.setItem('herald-language', radio.value)
    } catch {
      // It is chosen for this visit only.
    }
  })

for (const button of all('.copy'))
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(document.getElementById(button.dataset.copy).textContent)
    const text = button.firstChild
    text.data = 'Copied'
    setTimeout(() => {
      text.data = 'Copy'
    }, 2_000)
  })

// Leaves the operations that have all the words.
const find = document.getElementById('find')
const found = document.getElementById('found')
find?.addEventListener('input', () => {
  const words = find.value.toLowerCase().split(/\s+/).filter(Boolean)
  if (words.length > 0) menu.open = true
  let count = 0
  for (const group of all('nav .group')) {
    let isEmpty = true
    for (const item of group.querySelectorAll('li')) {
      item.hidden = !words.every(word => item.dataset.find.includes(word))
      if (item.hidden) continue
      isEmpty = false
      count++
    }
    group.hidden = isEmpty
  }
  found.hidden = words.length === 0
  found.textContent = count === 1 ? '1 operation' : `${count} operations`
})
document.addEventListener('keydown', event => {
  if (event.key !== '/' || /^(INPUT|TEXTAREA)$/.test(event.target.tagName)) return
  event.preventDefault()
  ;(find ?? search)?.focus()
})

// The documentation: sections that have all the words, those with a word in a heading first. The index is fetched when it is needed.
const search = document.getElementById('search')
const results = document.getElementById('results')
const MOST_RESULTS = 12
let index
search?.addEventListener('input', look)
async function look() {
  const words = search.value.toLowerCase().split(/\s+/).filter(Boolean)
  index ??= fetch(search.dataset.index).then(response => response.json())
  const sections = await index
  const found = sections
    .map(([slug, id, title, heading, text]) => {
      const [head, whole] = [`${title} ${heading}`.toLowerCase(), `${title} ${heading} ${text}`.toLowerCase()]
      const isFound = words.every(word => whole.includes(word))
      return { slug, id, title, heading, text, rank: isFound ? words.filter(word => head.includes(word)).length : -1 }
    })
    .filter(({ rank }) => rank >= 0)
    .sort((a, b) => b.rank - a.rank)
  results.hidden = words.length === 0
  const line = document.createElement('p')
  line.textContent = found.length === 1 ? '1 section' : `${found.length} sections`
  const list = document.createElement('ul')
  for (const { slug, id, title, heading, text } of found.slice(0, MOST_RESULTS)) {
    const link = document.createElement('a')
    link.href = `/docs/${slug}#${id}`
    link.textContent = heading === title ? title : `${title}: ${heading}`
    const excerpt = document.createElement('span')
    excerpt.textContent = text.slice(0, 140)
    const item = document.createElement('li')
    item.append(link, excerpt)
    list.append(item)
  }
  // What was typed meanwhile is looked for by its own event.
  if (words.join() === search.value.toLowerCase().split(/\s+/).filter(Boolean).join())
    results.replaceChildren(line, list)
}
// Enter opens the first result, also of an index that is still on its way.
search?.addEventListener('keydown', async event => {
  if (event.key !== 'Enter' || event.isComposing) return
  event.preventDefault()
  await look()
  results.querySelector('a')?.click()
})
find?.addEventListener('keydown', event => {
  if (event.key !== 'Enter' || event.isComposing || !find.value.trim()) return
  event.preventDefault()
  document.querySelector('.group li:not([hidden]) a')?.click()
})
document.addEventListener('keydown', event => {
  if (event.key !== 'Escape' || !results || results.hidden) return
  results.hidden = true
  search.focus()
})
// A result may be on this page: then nothing is loaded, and the list closes.
results?.addEventListener('click', event => {
  if (event.target.closest('a')) results.hidden = true
})
// On a phone the list of pages or operations is closed at first.
const menu = document.querySelector('.menu')
if (menu && matchMedia('(width < 62rem)').matches) menu.open = false
const contents = document.querySelector('.contents')
if (contents && matchMedia('(width < 75rem)').matches) contents.open = false

// Sends a request with the key that was typed, which is nowhere but in its field.
const key = document.getElementById('key')
for (const place of all('.try')) {
  const form = place.querySelector('form')
  const answer = form.querySelector('.answer')
  const say = (title, text) => {
    const line = document.createElement('p')
    line.textContent = title
    const pre = document.createElement('pre')
    pre.textContent = text
    answer.replaceChildren(line, ...(text ? [pre] : []))
  }
  form.addEventListener('submit', async event => {
    event.preventDefault()
    if (!key.value.trim()) {
      say('Enter your key first, at the top of the page.', '')
      key.focus()
      return
    }
    let path = place.dataset.path
    const query = new URLSearchParams()
    for (const field of form.querySelectorAll('input')) {
      if (field.dataset.in === 'path') path = path.replace(`{${field.name}}`, encodeURIComponent(field.value.trim()))
      else if (field.value) query.append(field.name, field.value)
    }
    const body = form.querySelector('textarea')?.value.trim()
    say('Sent. Waiting for the answer …', '')
    const began = performance.now()
    try {
      const response = await fetch(`${path}${query.size > 0 ? `?${query}` : ''}`, {
        method: place.dataset.method,
        headers: {
          authorization: `ApiKey-v1 ${key.value.trim()}`,
          ...(body && { 'content-type': 'application/json' }),
        },
        ...(body && { body }),
        credentials: 'omit',
      })
      const text = await response.text()
      let shown = text
      try {
        shown = JSON.stringify(JSON.parse(text), null, 2)
      } catch {
        // It is not JSON.
      }
      say(`${response.status}, after ${Math.round(performance.now() - began)} ms`, shown.slice(0, 100_000))
    } catch {
      say('There was no answer. Check the connection.', '')
    }
  })
}
