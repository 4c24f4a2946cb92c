// Sending a file: drop it anywhere on the page, see how far the upload is, and how far the file is read.

enhance('form[data-upload]', form => {
  const field = form.elements.file
  const place = form.querySelector('[data-upload-state]')
  const words = form.dataset

  const say = (text, isBad) => {
    place.hidden = false
    place.className = isBad ? 'error-text' : 'stack stack-sm'
    place.setAttribute('role', isBad ? 'alert' : 'status')
    place.textContent = text
  }

  const send = file => {
    if (!file) return say(words.choose, true)
    if (file.size > Number(words.most)) return say(words.large, true)
    const body = new FormData()
    // The fields come before the file, so that the server reads them first.
    for (const [name, value] of new FormData(form)) if (typeof value === 'string') body.append(name, value)
    body.append('by', 'script')
    body.append('file', file)
    const request = new XMLHttpRequest()
    const bar = document.createElement('progress')
    bar.max = 1
    bar.setAttribute('aria-label', words.sending)
    say(words.sending)
    place.append(bar)
    request.upload.onprogress = ({ loaded, total }) => {
      bar.value = loaded / total
    }
    request.onerror = () => say(words.lost, true)
    request.onload = () => {
      let answer = {}
      try {
        answer = JSON.parse(request.responseText)
      } catch {
        // A page, as after the end of a session: the form without the script shows it.
      }
      if (answer.to) location.assign(answer.to)
      else if (answer.error) say(answer.error, true)
      else form.submit()
    }
    request.open('POST', form.action)
    request.send(body)
  }

  form.addEventListener('submit', event => {
    event.preventDefault()
    send(field.files[0])
  })
  addEventListener('dragover', event => {
    if (event.dataTransfer.types.includes('Files')) event.preventDefault()
  })
  addEventListener('drop', event => {
    if (event.dataTransfer.files.length === 0) return
    event.preventDefault()
    field.files = event.dataTransfer.files
    send(field.files[0])
  })
})

// While a file is read and checked, the page follows it and opens the result.
enhance('[data-follow]', place => {
  const source = new EventSource(place.dataset.follow)
  source.onmessage = ({ data }) => {
    const { words, isDone } = JSON.parse(data)
    if (words) place.querySelector('[data-words]').textContent = words
    if (isDone) {
      source.close()
      location.replace(place.dataset.next)
    }
  }
})
