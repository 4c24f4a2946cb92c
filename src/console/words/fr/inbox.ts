/** The captured inbox. */
export const inbox = {
  '{1} new message': '{1} nouveau message',
  'The message is deleted from the inbox.': 'Le message est supprimé de la boîte.',
  'The inbox is empty.': 'La boîte est vide.',
  '20,000 messages are deleted. Delete again to delete the rest.':
    '20 000 messages sont supprimés. Videz encore la boîte pour supprimer le reste.',
  'The messages that you searched for are deleted from the inbox.':
    'Les messages que vous avez cherchés sont supprimés de la boîte.',
  'Some of the messages that you searched for are deleted. Delete again to delete the rest.':
    'Une partie des messages que vous avez cherchés est supprimée. Supprimez encore pour le reste.',
  'Delete these': 'Supprimer ceux-ci',
  'Delete these messages?': 'Supprimer ces messages ?',
  'All captured messages with these words are deleted here, for everybody.':
    'Tous les messages capturés avec ces mots sont supprimés ici, pour tout le monde.',
  'All captured messages to this recipient are deleted here, for everybody.':
    'Tous les messages capturés pour ce destinataire sont supprimés ici, pour tout le monde.',
  'The list of messages keeps them.': 'La liste des messages les garde.',
  'Delete the messages': 'Supprimer les messages',
  'What would have been sent. Nobody got these: they are of test keys, or there is no provider. Kept for 7 days.':
    'Ce qui aurait été envoyé. Personne ne l’a reçu : clé de test, ou aucun fournisseur. Conservé 7 jours.',
  'Mails of Herald itself that nobody got, because there is no provider. Those of a service are in its own inbox. Kept for 7 days.':
    'Courriels de Herald que personne n’a reçus, faute de fournisseur. Ceux d’un service sont dans sa propre boîte. Conservés 7 jours.',
  'Nothing was captured yet': 'Rien n’est encore capturé',
  'Send a message with a test key: it appears here and reaches nobody.':
    'Envoyez un message avec une clé de test : il apparaît ici et n’atteint personne.',
  'Sign-in links and invitations appear here while e-mails have no provider.':
    'Les liens de connexion et les invitations apparaissent ici tant que les courriels n’ont pas de fournisseur.',
  'Captured messages': 'Messages capturés',
  'To, subject or words': 'Destinataire, objet ou mots',
  'None of these messages match. Older ones may.': 'Aucun de ces messages ne correspond. De plus anciens le peuvent.',
  'No message matches.': 'Aucun message ne correspond.',
  'Looked at some. Older ones may match.': 'Une partie est parcourue. De plus anciens peuvent correspondre.',
  'Newest at {1}': 'Les plus récents à {1}',
  'Older messages': 'Messages plus anciens',
  'Choose a message': 'Choisissez un message',
  'It opens here.': 'Il s’ouvre ici.',
  'With the words': 'Avec les mots',
  'a recipient without messages': 'un destinataire sans message',
  'Unread:': 'Non lu :',
  'Without a subject': 'Sans objet',
  'Empty the inbox': 'Vider la boîte',
  'Empty the inbox?': 'Vider la boîte ?',
  'All captured messages of this service are deleted here, for everybody. The list of messages keeps them.':
    'Tous les messages capturés de ce service sont supprimés ici, pour tout le monde. La liste des messages les garde.',
  'All mails on this page are deleted, for everybody.':
    'Tous les courriels de cette page sont supprimés, pour tout le monde.',
  HTML: 'HTML',
  Links: 'Liens',
  Attachments: 'Pièces jointes',
  Download: 'Télécharger',
  'The provider’s own number': 'Le numéro du fournisseur',
  'Reply to': 'Répondre à',
  'Why nobody got it': 'Pourquoi personne ne l’a reçu',
  'Simulated (test key)': 'Simulé (clé de test)',
  'Open the page of the message': 'Ouvrir la page du message',
  'Delete this message': 'Supprimer ce message',
  'Delete this message?': 'Supprimer ce message ?',
  'It goes from the inbox, for everybody. Its page in the list of messages stays.':
    'Il quitte la boîte, pour tout le monde. Sa page dans la liste des messages reste.',
  'It goes from the inbox, for everybody.': 'Il quitte la boîte, pour tout le monde.',
  'Delete the message': 'Supprimer le message',
  'Views of the message': 'Vues du message',
  'This e-mail has no HTML. Its text is under Text.': 'Ce courriel n’a pas de HTML. Son texte est sous « Texte ».',
  'The captured e-mail {1}': 'Le courriel capturé {1}',
  'Attachments are left out, because they are large or already deleted.':
    'Les pièces jointes sont omises : trop volumineuses ou déjà supprimées.',
  'This e-mail could not be composed: an address in it is not valid for e-mail programs.':
    'Ce courriel n’a pas pu être composé : une de ses adresses n’est pas valable pour les logiciels de courriel.',
  'This e-mail has no links.': 'Ce courriel n’a pas de liens.',
  'It begins with neither https nor mailto nor tel: e-mail programs do not open it.':
    'Il ne commence ni par https, ni par mailto, ni par tel : les logiciels de courriel ne l’ouvrent pas.',
  'It is not a whole address. Begin it with https://.': 'Ce n’est pas une adresse complète. Commencez par https://.',
  'It has a space in it. Write %20, or check the value that was put in.':
    'Il contient une espace. Écrivez %20, ou vérifiez la valeur insérée.',
  'A placeholder is left over: give its value.': 'Un champ n’a pas été remplacé : donnez sa valeur.',
  'It leads to this machine or a private network. Recipients cannot open it.':
    'Il mène à cette machine ou à un réseau privé. Les destinataires ne peuvent pas l’ouvrir.',
  'It is not encrypted. Use https.': 'Il n’est pas chiffré. Utilisez https.',
  'Its words name another site than it leads to. E-mail programs warn of such links.':
    'Ses mots nomment un autre site que sa cible. Les logiciels de courriel signalent de tels liens.',
  'Without words': 'Sans mots',
  'Form is right': 'Forme correcte',
  'Check it': 'À vérifier',
  'Only the form of links is checked. Herald does not open them.':
    'Seule la forme des liens est vérifiée. Herald ne les ouvre pas.',
  '{1}, not stored any more': '{1}, n’est plus conservé',
  '{1} byte': '{1} octet',
  '{1} bytes': '{1} octets',
  'Delete the captured message': 'Supprimer le message capturé',
}
