/** The editor of templates. */
export const editor = {
  'This change breaks sends': 'Cette modification empêche des envois',
  'Check this change of placeholders': 'Vérifiez cette modification des champs',
  'Messages and jobs that were accepted before keep their version, scheduled ones too. Only later requests use version {1}.':
    'Les messages et les envois groupés déjà acceptés gardent leur version, même ceux qui sont programmés. Seules les requêtes suivantes utilisent la version {1}.',
  'Back to editing': 'Retour à la rédaction',
  'Save as version {1}': 'Enregistrer comme version {1}',
  'Who used this template in the last {1} days': 'Qui a utilisé ce modèle ces {1} derniers jours',
  'Keys that sent with this template, and jobs that wait':
    'Clés qui ont envoyé avec ce modèle, et envois groupés en attente',
  'Key or job': 'Clé ou envoi groupé',
  'Sent, {1} days': 'Envoyés, {1} jours',
  Last: 'Dernier',
  Waits: 'En attente',
  'This template is sent so often that only its latest messages were read. A key that used it before them is not listed.':
    'Ce modèle est envoyé si souvent que seuls ses derniers messages ont été lus. Une clé qui l’a utilisé avant n’apparaît pas dans la liste.',
  '“{1}”': '«\u00a0{1}\u00a0»',
  'Values for removed placeholders are accepted and not used.':
    'Les valeurs des champs retirés sont acceptées et ne servent pas.',
  'No key has to change': 'Aucune clé n’a besoin de changer',
  'Every key already sends a value for it.': 'Chaque clé envoie déjà une valeur.',
  '1 key does not send {1} yet': '1 clé n’envoie pas encore {1}',
  '{1} keys do not send {2} yet': '{1} clés n’envoient pas encore {2}',
  'Requests without a value for {1} are refused with “{2}” as soon as you save.':
    'Les requêtes sans valeur pour {1} sont refusées avec «\u00a0{2}\u00a0» dès que vous enregistrez.',
  'Requests without a value for {1} are refused with “{2}” as soon as you restore it.':
    'Les requêtes sans valeur pour {1} sont refusées avec «\u00a0{2}\u00a0» dès que vous la rétablissez.',
  'You added {1}.': 'Vous avez ajouté {1}.',
  'You removed {1}.': 'Vous avez retiré {1}.',
  'You added {1} and removed {2}.': 'Vous avez ajouté {1} et retiré {2}.',
  'Restoring adds {1}.': 'Rétablir ajoute {1}.',
  'Restoring removes {1}.': 'Rétablir retire {1}.',
  'Restoring adds {1} and removes {2}.': 'Rétablir ajoute {1} et retire {2}.',
  'sends {1}': 'envoie {1}',
  'sends no values': 'n’envoie aucune valeur',
  '; lacks {1}': '\u00a0; il manque {1}',
  '; has all that is needed': '\u00a0; a tout ce qu’il faut',
  ', from a file': ', depuis un fichier',
  'scheduled for {1}, {2} rows; keeps version {3}, not touched':
    'programmé pour {1}, {2} lignes\u00a0; garde la version {3}, inchangé',
  'Version {1} was saved meanwhile': 'La version {1} a été enregistrée entre-temps',
  'You began with version {1}. Your text is below, unchanged. Saving now replaces version {2}: first take over what you want to keep of it.':
    'Vous avez commencé avec la version {1}. Votre texte est ci-dessous, inchangé. Enregistrer maintenant remplace la version {2}\u00a0: reprenez d’abord ce que vous voulez en garder.',
  'The draft is saved or replaced by a newer one. This is the saved version.':
    'Le brouillon est enregistré ou remplacé par un plus récent. Voici la version enregistrée.',
  'There is nothing to show.': 'Il n’y a rien à montrer.',
  'Enter shorter example values: together they have at most 51,200 characters.':
    'Saisissez des valeurs d’exemple plus courtes\u00a0: ensemble, elles ont au plus 51 200 caractères.',
  'The test is not sent': 'Le test n’est pas envoyé',
  'Save your changes first. A test sends the saved version.':
    'Enregistrez d’abord vos modifications. Un test envoie la version enregistrée.',
  'Enter an example value for {1}.': 'Saisissez une valeur d’exemple pour {1}.',
  'The team of this service knows no phone number of yours. A manager can enter it on the page “Team”.':
    'L’équipe de ce service ne connaît pas votre numéro de téléphone. Un gestionnaire peut le saisir à la page «\u00a0Équipe\u00a0».',
  'The new version is in use. Messages that were accepted before keep theirs.':
    'La nouvelle version est utilisée. Les messages acceptés avant gardent la leur.',
  'The example values are saved. The template itself is unchanged.':
    'Les valeurs d’exemple sont enregistrées. Le modèle lui-même est inchangé.',
  'The old content is in use again, as a new version.':
    'L’ancien contenu est de nouveau utilisé, comme nouvelle version.',
  'The template is there. Write its text, then save it.': 'Le modèle est créé. Rédigez son texte, puis enregistrez-le.',
  'Version {1} in use': 'Version {1} utilisée',
  '{1}, {2}, changed {3}': '{1}, {2}, modifié {3}',
  'Send to myself': 'M’envoyer un test',
  'Markdown.': 'Markdown.',
  '“{1}: ” comes first, because the settings of the service say so.':
    '«\u00a0{1}\u00a0:\u00a0» vient en premier, comme le veulent les paramètres du service.',
  'Write placeholders in double round brackets: {1}, {2}.':
    'Écrivez les champs entre doubles parenthèses\u00a0: {1}, {2}.',
  'Authors and managers of this service can change the template.':
    'Les auteurs et les gestionnaires de ce service peuvent modifier le modèle.',
  'Values are sent as they are.': 'Les valeurs sont envoyées telles quelles.',
  'Values are plain text: they cannot make links or formatting.':
    'Les valeurs sont du texte brut\u00a0: elles ne peuvent créer ni liens ni mise en forme.',
  'Markdown in values is formatted, and addresses in them become links.':
    'Le Markdown dans les valeurs est mis en forme, et les adresses y deviennent des liens.',
  'Several lines make a list.': 'Plusieurs lignes forment une liste.',
  '{1} more are not listed.': '{1} autres ne sont pas affichés.',
  'None yet. {1} in the text becomes a value of each recipient, and {2} a text that only some get.':
    'Aucun pour l’instant. {1} dans le texte devient une valeur de chaque destinataire, et {2} un texte que seuls certains reçoivent.',
  'Placeholders of this template': 'Champs de ce modèle',
  Placeholder: 'Champ',
  'yes or no': 'oui ou non',
  'Example value': 'Valeur d’exemple',
  'Example for {1}': 'Exemple pour {1}',
  Desktop: 'Bureau',
  Phone: 'Mobile',
  'Show the preview as': 'Montrer l’aperçu comme',
  'Preview of the e-mail on a wide screen': 'Aperçu du courriel sur un grand écran',
  'Preview of the e-mail on a phone': 'Aperçu du courriel sur un téléphone',
  'Preview of the e-mail in a dark mail program': 'Aperçu du courriel dans une messagerie sombre',
  'Made by the same code that sends. {1} KB.': 'Fait par le même code que l’envoi. {1} Ko.',
  'Phones join the parts to one message.': 'Les téléphones réunissent les parties en un seul message.',
  '1 thing to look at': '1 point à vérifier',
  '{1} things to look at': '{1} points à vérifier',
  'Message, line {1}': 'Message, ligne {1}',
  '{1} of {2} characters, without values': '{1} caractères sur {2}, sans les valeurs',
  '{1} of {2} characters': '{1} caractères sur {2}',
  'With the example values': 'Avec les valeurs d’exemple',
  'Basic alphabet of phones (GSM-7).': 'Alphabet de base des téléphones (GSM-7).',
  'Large alphabet (UCS-2).': 'Grand alphabet (UCS-2).',
  'Every part is charged.': 'Chaque partie est facturée.',
  'One character is replaced': 'Un caractère est remplacé',
  'Some characters are replaced': 'Certains caractères sont remplacés',
  '{1} {2} becomes {3}.': '{1} {2} devient {3}.',
  nothing: 'rien',
  'And {1} more.': 'Et {1} de plus.',
  'One character needs the large alphabet': 'Un caractère demande le grand alphabet',
  '{1} characters need the large alphabet': '{1} caractères demandent le grand alphabet',
  'It is not in the basic alphabet of phones, so a part holds 67 characters instead of 153.':
    'Il n’est pas dans l’alphabet de base des téléphones\u00a0: une partie contient 67 caractères au lieu de 153.',
  'They are not in the basic alphabet of phones, so a part holds 67 characters instead of 153.':
    'Ils ne sont pas dans l’alphabet de base des téléphones\u00a0: une partie contient 67 caractères au lieu de 153.',
  'With basic letters this message is {1} instead of {2}, {3} of {4} characters.':
    'Avec les lettres de base, ce message fait {1} au lieu de {2}, {3} caractères sur {4}.',
  'Use {1}': 'Écrire {1}',
  '“{1}” for “{2}”': '«\u00a0{1}\u00a0» pour «\u00a0{2}\u00a0»',
  'in the name of the service': 'dans le nom du service',
  'in the example value of “{1}”': 'dans la valeur d’exemple de «\u00a0{1}\u00a0»',
  'in line {1}': 'à la ligne {1}',
  'No connection to Herald. The preview shows an earlier text.':
    'Pas de connexion à Herald. L’aperçu montre un texte antérieur.',
}
