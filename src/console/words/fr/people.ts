/** People of the installation. */
export const people = {
  'They are an operator now.': 'Cette personne est maintenant opérateur.',
  'They are no longer an operator.': 'Cette personne n’est plus opérateur.',
  'They are removed, and signed out everywhere.': 'Cette personne est retirée, et déconnectée partout.',
  '{1} person': '{1} personne',
  '{1} people': '{1} personnes',
  '{1} operator': '{1} opérateur',
  '{1} operators': '{1} opérateurs',
  'Invite an operator': 'Inviter un opérateur',
  'Signs in with': 'Se connecte avec',
  '{1} service': '{1} service',
  '{1} services': '{1} services',
  Passkey: 'Clé d’accès',
  'Invitations of operators': 'Invitations d’opérateurs',
  'Operators manage all services and people. They get an e-mail with a link, which works once, for 7 days.':
    'Les opérateurs gèrent tous les services et toutes les personnes. Ils reçoivent un courriel avec un lien qui fonctionne une fois, pendant 7 jours.',
  'A person': 'Une personne',
  'Not changed': 'Non modifié',
  'Manages this installation: all services and all people.':
    'Gère cette installation\u00a0: tous les services et toutes les personnes.',
  'Has rights only in the services of which they are a member.':
    'N’a de droits que dans les services dont elle est membre.',
  'Make an ordinary person': 'Rendre personne ordinaire',
  'Make an operator': 'Rendre opérateur',
  'Remove altogether': 'Retirer complètement',
  'They leave all services and are signed out at once. Passkeys and links are deleted. What they did stays in the audit log.':
    'La personne quitte tous les services et est déconnectée aussitôt. Ses clés d’accès et ses liens sont supprimés. Ce qu’elle a fait reste dans le journal d’audit.',
}
