/** Uploads of recipient files. */
export const sheets = {
  'The file is too large. The most is {1} MB. Divide it, and upload the parts one by one.':
    'Le fichier est trop volumineux. Le maximum est de {1} Mo. Divisez-le et téléversez les parties une par une.',
  'The upload ended early. Choose the file again.':
    'Le téléversement s’est interrompu. Choisissez de nouveau le fichier.',
  'This address takes a form with a file.': 'Cette adresse attend un formulaire avec un fichier.',
  'This page was from an earlier session': 'Cette page date d’une session précédente',
  'Nothing was uploaded. Open the page again, and choose the file once more.':
    'Rien n’a été téléversé. Ouvrez de nouveau la page et choisissez encore une fois le fichier.',
  'Open the page again': 'Ouvrir de nouveau la page',
}
