// Enhancement only: every page works without it. Other files of this folder are joined after this one and use enhance().

/** Runs the function for each element that matches. */
const enhance = (selector, work) => {
  for (const element of document.querySelectorAll(selector)) work(element)
}

// After a failed submit the summary has the focus.
enhance('[data-focus]', element => element.focus())

// The person's time zone goes with the form that signs them in.
enhance('input[name="time_zone"]', field => {
  field.value = Intl.DateTimeFormat().resolvedOptions().timeZone || ''
})

// A second press of a button does not send the form twice.
enhance('form[method="post"]', form => {
  let isSent = false
  form.addEventListener('submit', event => {
    if (event.defaultPrevented) return
    if (isSent) event.preventDefault()
    isSent = true
    setTimeout(() => {
      isSent = false
    }, 3_000)
  })
})

// Copies the text of the element that data-copy names.
enhance('button[data-copy]', button => {
  button.hidden = false
  button.addEventListener('click', async () => {
    const source = document.getElementById(button.dataset.copy)
    if (!source) return
    await navigator.clipboard.writeText(source.textContent.trim())
    const words = button.textContent
    button.textContent = document.body.dataset.copied
    setTimeout(() => {
      button.textContent = words
    }, 2_000)
  })
})

// ——— keyboard ———

const isField = element =>
  element instanceof HTMLElement &&
  (element.isContentEditable ||
    /^(INPUT|TEXTAREA|SELECT)$/.test(element.tagName) ||
    Boolean(element.closest('dialog[open]')))
const isOpen = element => element?.matches(':popover-open')

/** Opens what the link does; nothing when the page has no such link. */
const follow = link => {
  if (!link) return false
  link.click()
  return true
}

const rowLinks = () => [...document.querySelectorAll('main .table tbody .cell-title a.title, main .mails a')]
const moveRow = step => {
  const links = rowLinks()
  if (links.length === 0) return false
  const at = links.indexOf(document.activeElement)
  const next = at === -1 ? (step > 0 ? 0 : links.length - 1) : Math.min(links.length - 1, Math.max(0, at + step))
  links[next].focus()
  return true
}

const shortcuts = document.getElementById('shortcuts')
const single = {
  '/': () => {
    const field = document.querySelector('main input[type="search"], .topbar input[type="search"]')
    field?.focus()
    return Boolean(field)
  },
  j: () => moveRow(1),
  k: () => moveRow(-1),
  '[': () => follow(document.querySelector('.pager a[rel="prev"]')),
  ']': () => follow(document.querySelector('.pager a[rel="next"]')),
  e: () => {
    const field = document.querySelector('form#edit textarea[name="body"]')
    field?.focus()
    return Boolean(field) || follow(document.querySelector('a[data-key="e"]'))
  },
  '?': () => {
    shortcuts?.togglePopover()
    return Boolean(shortcuts)
  },
}

/** `g` was pressed less than a second and a half ago. */
let goUntil = 0

function onLetter(event) {
  if (document.body.dataset.shortcuts !== 'on' || isField(event.target)) return
  if (performance.now() < goUntil) {
    goUntil = 0
    if (follow(document.querySelector(`.sidebar a[data-go="${CSS.escape(event.key)}"]`))) event.preventDefault()
    return
  }
  if (event.key === 'g') goUntil = performance.now() + 1_500
  else if (Object.hasOwn(single, event.key) && single[event.key]()) event.preventDefault()
}

/** Saves or submits the form that has the focus; without one, the form of the page that says so. */
function onCommand(event, isSave) {
  const form = document.activeElement?.closest('main form[method="post"]') ?? document.querySelector('form#edit')
  if (!form || (isSave && form.id !== 'edit')) return
  event.preventDefault()
  form.requestSubmit(
    document.querySelector(`button.btn-primary[form="${form.id}"]`) ?? form.querySelector('button.btn-primary'),
  )
}

document.addEventListener('keydown', event => {
  if (event.defaultPrevented || event.isComposing || event.altKey) return
  const isCommand = event.ctrlKey || event.metaKey
  if (isCommand && event.key === 's') onCommand(event, true)
  else if (isCommand && event.key === 'Enter') onCommand(event, false)
  else if (!isCommand) onLetter(event)
})

// Esc closes popovers by itself; in a search field it empties the field first, then leaves it.
document.addEventListener('keydown', event => {
  if (event.key === 'Escape' && event.target instanceof HTMLInputElement && !event.target.value && !isOpen(shortcuts))
    event.target.blur()
})
