/** The overview of a service. */
export const overview = {
  'Jobs in progress': 'Envois groupés en cours',
  Progress: 'Avancement',
  Done: 'Terminés',
  'Starts {1} at {2}': 'Débute {1} à {2}',
  'E-mails': 'Courriels',
  'e-mails': 'courriels',
  'Text messages': 'SMS',
  'text messages': 'SMS',
  'Limits today': 'Limites du jour',
  'Counted from midnight UTC, by the day on which a message is due.':
    'Comptées depuis minuit UTC, selon le jour où un message est dû.',
  '{1} left.': 'Il en reste {1}.',
  'Starts again at midnight UTC. An operator can raise the limit.':
    'Recommence à minuit UTC. Un opérateur peut relever la limite.',
  'Failing templates': 'Modèles en échec',
  'Over 5 % your sender’s reputation suffers.': 'Au-delà de 5\u00a0%, la réputation de votre expéditeur souffre.',
  'Templates with the most failures, last 7 days': 'Modèles avec le plus d’échecs, 7 derniers jours',
  'Welcome to {1}': 'Bienvenue dans {1}',
  'Four steps to the first real message. You can do them in any order.':
    'Quatre étapes jusqu’au premier vrai message. Vous pouvez les faire dans n’importe quel ordre.',
  'Three steps to the first real message. You can do them in any order.':
    'Trois étapes jusqu’au premier vrai message. Vous pouvez les faire dans n’importe quel ordre.',
  '“{1}” is ready.': '«\u00a0{1}\u00a0» est prêt.',
  'What your messages say, with placeholders for what differs.':
    'Ce que disent vos messages, avec des champs pour ce qui varie.',
  Open: 'Ouvrir',
  Write: 'Rédiger',
  'Send one to yourself': 'Envoyez-en un à vous-même',
  'In trial mode only your team and allowed recipients get messages, up to {1} a day.':
    'En mode d’essai, seuls votre équipe et les destinataires autorisés reçoivent des messages, jusqu’à {1} par jour.',
  'On the page of a template. You see what a recipient sees.':
    'Sur la page d’un modèle. Vous voyez ce que voit un destinataire.',
  'Send a test': 'Envoyer un test',
  'Make an API key': 'Créer une clé API',
  'A test key sends nothing. What it would have sent is in the captured inbox.':
    'Une clé de test n’envoie rien. Ce qu’elle aurait envoyé est dans la boîte de capture.',
  'Ask to go live': 'Demander le passage en production',
  'An operator looks at your sender address and your limits, and makes the service live.':
    'Un opérateur examine votre adresse d’expéditeur et vos limites, et met le service en production.',
  'Everything this service sends appears here within a second. Messages of test keys are not counted.':
    'Tout ce que ce service envoie apparaît ici en moins d’une seconde. Les messages des clés de test ne sont pas comptés.',
  'All messages, also of test keys': 'Tous les messages, aussi ceux des clés de test',
  '{1}, since midnight': '{1}, depuis minuit',
  'Counts begin {1}, with an upgrade of Herald. Messages that were accepted before are in the list of messages, and not in these numbers.':
    'Les chiffres commencent {1}, avec une mise à niveau de Herald. Les messages acceptés avant sont dans la liste des messages, et pas dans ces chiffres.',
  'Messages of test keys are not counted here; lists show them. Days are those of {1}, to the full hour.':
    'Les messages des clés de test ne sont pas comptés ici\u00a0; les listes les montrent. Les jours suivent le fuseau {1}, à l’heure pleine.',
  '{1} e-mails': '{1} courriels',
  '{1} texts': '{1} SMS',
  'and {1} of earlier days': 'et {1} des jours précédents',
  'on their way': 'en route',
  '{1} of finished': '{1} des messages terminés',
  none: 'aucun',
  'and {1} in jobs': 'et {1} en envois groupés',
  'to be sent later': 'à envoyer plus tard',
  'Last 7 days': '7 derniers jours',
  'Messages of the last seven days. The table below has the numbers.':
    'Messages des sept derniers jours. Le tableau ci-dessous donne les nombres.',
  'The numbers as a table': 'Les nombres sous forme de tableau',
  'Messages a day, by the day on which they were accepted': 'Messages par jour, selon le jour où ils ont été acceptés',
  'Time to delivery': 'Délai de distribution',
  'About how long half of the messages, and 95 % of them, took from accepted or from their scheduled time.':
    'Temps approximatif que la moitié des messages, et 95\u00a0% d’entre eux, ont pris depuis l’acceptation ou l’heure programmée.',
  Half: 'La moitié',
  '95 %': '95\u00a0%',
  'Why messages failed': 'Pourquoi des messages ont échoué',
  'Failed messages by reason': 'Messages en échec par raison',
  Reason: 'Raison',
  '7 days': '7 jours',
}
