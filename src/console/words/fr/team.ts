/** The team of a service, roles and invitations. */
export const team = {
  'The operator of this Herald': 'L’opérateur de ce Herald',
  Invitation: 'Invitation',
  'You are invited': 'Vous êtes invité',
  'Not accepted yet': 'Pas encore accepté',
  '{1} invites {2} to manage this installation as an operator.':
    '{1} invite {2} à gérer cette installation comme opérateur.',
  '{1} invites {2} to the service {3}.': '{1} invite {2} dans le service {3}.',
  'You are signed in as {1}. Accepting signs you out there.':
    'Vous êtes connecté comme {1}. Accepter vous y déconnecte.',
  'Your name': 'Votre nom',
  'Your team sees it.': 'Votre équipe le voit.',
  'Accepting signs you out of your other browsers.': 'Accepter vous déconnecte de vos autres navigateurs.',
  'Accept invitation': 'Accepter l’invitation',
  'You are signed in as {1}. Sign out, then open the link in the e-mail again.':
    'Vous êtes connecté comme {1}. Déconnectez-vous, puis ouvrez à nouveau le lien du courriel.',
  'Sign in with single sign-on first. You can then accept the invitation.':
    'Connectez-vous d’abord avec l’authentification unique. Vous pourrez ensuite accepter l’invitation.',
  'There is already an account with this address. Sign in to it first. You can then accept the invitation.':
    'Un compte avec cette adresse existe déjà. Connectez-vous d’abord à ce compte. Vous pourrez ensuite accepter l’invitation.',
  'Accept and sign in': 'Accepter et se connecter',
  'This invitation does not work any longer': 'Cette invitation ne fonctionne plus',
  'It was accepted, withdrawn, or is older than 7 days. Ask for another one.':
    'Elle a été acceptée, retirée, ou date de plus de 7 jours. Demandez-en une autre.',
  'Invite somebody': 'Inviter quelqu’un',
  'They get an e-mail with a link, which works once, for 7 days.':
    'La personne reçoit un courriel avec un lien qui fonctionne une fois, pendant 7 jours.',
  'Choose a role.': 'Choisissez un rôle.',
  'Change a role': 'Changer un rôle',
  'Save the role': 'Enregistrer le rôle',
  'Leave this service': 'Quitter ce service',
  'Remove from this service': 'Retirer de ce service',
  'You cannot open this service any longer, until somebody invites you again.':
    'Vous ne pourrez plus ouvrir ce service, jusqu’à ce que quelqu’un vous invite à nouveau.',
  'They cannot open this service any longer, from their next request on. What they did stays in the audit log.':
    'Cette personne ne pourra plus ouvrir ce service dès sa prochaine requête. Ce qu’elle a fait reste dans le journal d’audit.',
  Stay: 'Rester',
  'Leave the service': 'Quitter le service',
  Viewer: 'Lecteur',
  Author: 'Auteur',
  Developer: 'Développeur',
  Manager: 'Gestionnaire',
  'Sees messages, jobs and templates': 'Voit les messages, les envois groupés et les modèles',
  'Also writes templates': 'Rédige aussi des modèles',
  'Also sends messages and files': 'Envoie aussi des messages et des fichiers',
  'Also makes keys and webhooks': 'Crée aussi des clés et des webhooks',
  'All of this, and the team': 'Tout cela, et l’équipe',
  viewer: 'lecteur',
  author: 'auteur',
  sender: 'expéditeur',
  developer: 'développeur',
  manager: 'gestionnaire',
  'See messages, jobs, templates': 'Voir messages, envois groupés, modèles',
  'Write templates': 'Rédiger des modèles',
  'Send, cancel, export recipients': 'Envoyer, annuler, exporter des destinataires',
  'Keys, webhooks, captured inbox': 'Clés, webhooks, boîte de capture',
  'Team, settings': 'Équipe, paramètres',
  'The service is there, and you are its manager. Invite the others.':
    'Le service est créé, et vous en êtes gestionnaire. Invitez les autres.',
  'Another invitation is on its way. The link of the one before does not work any longer.':
    'Une autre invitation est en route. Le lien de la précédente ne fonctionne plus.',
  'The role is changed, from their next request on.': 'Le rôle est changé, dès la prochaine requête de cette personne.',
  'They do not belong to this service any longer.': 'Cette personne n’appartient plus à ce service.',
  'You belong to this service now. The audit log says so.':
    'Vous appartenez maintenant à ce service. Le journal d’audit le dit.',
  'Everybody here can see messages. Roles say what else they may do.':
    'Tout le monde ici peut voir les messages. Les rôles disent ce que chacun peut faire d’autre.',
  'Nobody is here yet': 'Personne n’est encore ici',
  'Invite somebody to work in this service.': 'Invitez quelqu’un à travailler dans ce service.',
  'Managers invite and remove people and change roles.':
    'Les gestionnaires invitent et retirent des personnes et changent les rôles.',
  Invitations: 'Invitations',
  'Join this service': 'Rejoindre ce service',
  'As an operator you see the settings and counts of this service, and its team. To see messages and templates, join it: its team sees you here, and the audit log records it.':
    'En tant qu’opérateur, vous voyez les paramètres et les chiffres de ce service, et son équipe. Pour voir les messages et les modèles, rejoignez-le\u00a0: son équipe vous voit ici, et le journal d’audit l’enregistre.',
  'Join the service': 'Rejoindre le service',
  'What roles may do': 'Ce que les rôles peuvent faire',
  Roles: 'Rôles',
  Task: 'Tâche',
}
