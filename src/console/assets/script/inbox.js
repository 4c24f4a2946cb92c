// The captured inbox: Delete asks whether the message that has the focus is deleted, else the one that is open.
enhance('[data-delete-by]', list => {
  const dialog = document.getElementById(list.dataset.deleteBy)
  single.Delete = () => {
    if (document.querySelector('dialog:popover-open')) return false
    const mail = document.activeElement?.closest('a[data-delete]') ?? list.querySelector('a[aria-current]')
    if (!dialog || !mail) return false
    dialog.querySelector('form').action = mail.dataset.delete
    dialog.querySelector('[data-delete-name]').textContent = mail.querySelector('bdi').textContent
    dialog.showPopover()
    return true
  }
})
