/** Lists of services. */
export const services = {
  '{1} service on this installation.': '{1} service sur cette installation.',
  '{1} services on this installation.': '{1} services sur cette installation.',
  'Add a service': 'Ajouter un service',
  'Service name': 'Nom du service',
  Mode: 'Mode',
  'There is no service yet': 'Il n’y a encore aucun service',
  'No service matches': 'Aucun service ne correspond',
  'A service has its own templates, keys, team and limits.':
    'Un service a ses propres modèles, clés, équipe et limites.',
  'Search for a part of its name, in any mode.': 'Cherchez une partie de son nom, dans tous les modes.',
  'Show all': 'Tout montrer',
  Added: 'Ajouté',
  Suspended: 'Suspendu',
  'You become its manager and can invite others.': 'Vous en devenez gestionnaire et pouvez inviter d’autres personnes.',
  'Not added yet': 'Pas encore ajouté',
  'Recipients see it as the sender of e-mails.': 'Les destinataires le voient comme expéditeur des courriels.',
  'Sends to its team and its safelist only': 'N’envoie qu’à son équipe et à sa liste autorisée',
  'Sends to anyone': 'Envoie à tout le monde',
  'Add the service': 'Ajouter le service',
  'Choose the service you want to work in.': 'Choisissez le service dans lequel vous voulez travailler.',
  'You belong to no service yet': 'Vous n’appartenez encore à aucun service',
  'As an operator you can add a service, or join one.':
    'En tant qu’opérateur, vous pouvez ajouter un service ou en rejoindre un.',
  'Sent today': 'Envoyés aujourd’hui',
  'Failed, 7 days': 'En échec, 7 jours',
  'Missing a service? Ask one of its managers to invite {1}.':
    'Il manque un service\u00a0? Demandez à l’un de ses gestionnaires d’inviter {1}.',
  'All services of this installation': 'Tous les services de cette installation',
}
