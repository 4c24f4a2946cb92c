export const system = {
  'Accepted a minute': 'Acceptés par minute',
  'A message that waits for more than 72 hours fails.': 'Un message qui attend plus de 72 heures échoue.',
  'Back to the system': 'Retour au système',
  'Captured, not sent': 'Capturé, non envoyé',
  'captured inbox': 'boîte de capture',
  Channel: 'Canal',
  channel: 'canal',
  Class: 'Catégorie',
  'Engine only': 'Moteur seulement',
  'Everything that waits leaves at once. What is sent cannot be recalled.':
    'Tout ce qui attend part aussitôt. Ce qui est envoyé ne peut pas être rappelé.',
  'For every service, in every process, until an operator releases it.':
    'Pour tous les services, dans tous les processus, jusqu’à ce qu’un opérateur reprenne l’envoi.',
  'Herald {1}, {2}, numbers of {3}': 'Herald {1}, {2}, chiffres de {3}',
  'Hold all sending?': 'Suspendre tout envoi ?',
  'HTTP and engine': 'HTTP et moteur',
  'HTTP only': 'HTTP seulement',
  'In flight': 'En cours',
  'It is kept sealed until the message is handed over, and never logged.':
    'Le destinataire est conservé chiffré jusqu’à la remise du message, et n’est jamais écrit dans le journal.',
  'Keep holding': 'Laisser suspendu',
  'Keep sending': 'Continuer d’envoyer',
  'Last backup': 'Dernière sauvegarde',
  'Last error': 'Dernière erreur',
  'Leads since {1}': 'Principal depuis {1}',
  'Messages are still accepted, and wait.': 'Les messages sont toujours acceptés, et attendent.',
  'More than {1} messages are due now.': 'Plus de {1} messages sont à envoyer maintenant.',
  'More than 2 days without one': 'Plus de 2 jours sans sauvegarde',
  'No answer in time': 'Pas de réponse à temps',
  'No answer yet': 'Pas encore de réponse',
  'No message waits at the moment.': 'Aucun message n’attend en ce moment.',
  'No process leads. One with an engine begins to lead within 10 s after its start; without one nothing is sent or cleaned up.':
    'Aucun processus n’est principal. Un processus avec moteur le devient dans les 10 s après son démarrage ; sans lui, rien n’est envoyé ni nettoyé.',
  'No process sends': 'Aucun processus n’envoie',
  'No process with an engine took the test in time. Look at the processes on the system page.':
    'Aucun processus avec moteur n’a pris le test à temps. Regardez les processus sur la page du système.',
  'none yet': 'aucune pour l’instant',
  'Not sent': 'Non envoyé',
  'One message, by this provider only, also while it is paused after errors.':
    'Un seul message, par ce fournisseur seulement, même pendant sa pause après des erreurs.',
  'Only a member of pg_monitor sees its state': 'Seul un membre de pg_monitor voit son état',
  Partitions: 'Partitions',
  'Paused after errors': 'En pause après des erreurs',
  'Perhaps accepted': 'Peut-être accepté',
  'Phone number': 'Numéro de téléphone',
  Process: 'Processus',
  Processes: 'Processus',
  'Reference of the provider': 'Référence du fournisseur',
  Refused: 'Refusé',
  'Refused for now': 'Refusé pour l’instant',
  'Release all sending?': 'Reprendre tout envoi ?',
  Replication: 'Réplication',
  Running: 'En marche',
  'Send a test message through {1}': 'Envoyer un message de test par {1}',
  'Send another test': 'Envoyer un autre test',
  'Send the test message': 'Envoyer le message de test',
  'Sending was held meanwhile, so the test was not sent.':
    'L’envoi a été suspendu entre-temps, le test n’a donc pas été envoyé.',
  'since {1}': 'depuis {1}',
  'Something failed in Herald itself. The log of the process says what.':
    'Une erreur s’est produite dans Herald même. Le journal du processus dit laquelle.',
  'Switched off': 'Désactivé',
  'Test of {1}': 'Test de {1}',
  'Test sent by a provider': 'Test envoyé par un fournisseur',
  'File store adopted': 'Stockage des fichiers adopté',
  'Test {1}': 'Tester {1}',
  'The connection broke before the provider answered. The message may still arrive.':
    'La connexion a été coupée avant la réponse du fournisseur. Le message peut encore arriver.',
  'The leader runs maintenance. When it ends, another process with an engine takes over within 10 s.':
    'Le processus principal fait l’entretien. S’il s’arrête, un autre processus avec moteur prend le relais dans les 10 s.',
  'The message is on its way to the provider.': 'Le message est en route vers le fournisseur.',
  'The message reached nobody: it is in the {1}.': 'Le message n’est arrivé à personne : il est dans la {1}.',
  'The provider does not take messages at the moment. Herald tries again with messages; a test is not repeated.':
    'Le fournisseur n’accepte pas de messages en ce moment. Herald réessaie pour les messages ; un test n’est pas répété.',
  'The provider has accepted the message. Now look whether it arrives.':
    'Le fournisseur a accepté le message. Vérifiez maintenant qu’il arrive.',
  'The provider has not answered for 30 seconds. The message may still arrive.':
    'Le fournisseur n’a pas répondu pendant 30 secondes. Le message peut encore arriver.',
  'The provider refuses this message for good. Check the recipient first, then the login and the sender in the settings of the provider.':
    'Le fournisseur refuse ce message définitivement. Vérifiez d’abord le destinataire, puis l’accès et l’expéditeur dans les paramètres du fournisseur.',
  'This installation captures such messages: the test is kept in the captured inbox and reaches nobody.':
    'Cette installation capture ces messages : le test est conservé dans la boîte de capture et n’arrive à personne.',
  'To release only a part, use herald release at the machine.':
    'Pour ne reprendre qu’une partie, utilisez herald release sur la machine.',
  'Trying again': 'Nouvel essai',
  'up since {1}, seen {2}': 'en marche depuis {1}, vu {2}',
  'Webhooks and mails of Herald wait too: nobody can sign in by a link meanwhile.':
    'Les webhooks et les courriels de Herald attendent aussi : personne ne peut se connecter par un lien entre-temps.',
  'What is being handed to a provider now is finished.': 'Ce qui est en cours de remise à un fournisseur est terminé.',
  Working: 'Fonctionne',
  '{1} GB': '{1} Go',
  '{1} group of messages that an earlier release kept back leaves too.':
    '{1} groupe de messages retenu par une reprise antérieure part aussi.',
  '{1} groups of messages that an earlier release kept back leave too.':
    '{1} groupes de messages retenus par une reprise antérieure partent aussi.',
  '{1} kB behind': '{1} ko de retard',
  '{1} message is due now.': '{1} message est à envoyer maintenant.',
  '{1} messages are due now.': '{1} messages sont à envoyer maintenant.',
  '{1} process': '{1} processus',
  '{1} processes': '{1} processus',
  '{1} s behind': '{1} s de retard',
  '{1}, from {2} to {3}, {4} days ahead': '{1}, du {2} au {3}, {4} jours d’avance',
  'Sending is held, so nothing is sent, not even a test. Release all sending first.':
    'L’envoi est suspendu : rien n’est envoyé, pas même un test. Reprenez d’abord tout envoi.',
  'Enter {1} to send the test to.': 'Saisissez {1} à qui envoyer le test.',
  'an e-mail address such as name@example.org': 'une adresse électronique comme nom@exemple.org',
  'a phone number with its country code': 'un numéro de téléphone avec son indicatif de pays',
  'No running process has the provider {1}. Start one that sends: herald start, or herald start --only engine.':
    'Aucun processus en marche n’a le fournisseur {1}. Démarrez-en un qui envoie : herald start, ou herald start --only engine.',
  'There were {1} tests in the last minute. Try again in a minute.':
    'Il y a eu {1} tests dans la dernière minute. Réessayez dans une minute.',
  'Not seen for {1}': 'Pas vu depuis {1}',
  'no replica': 'aucun réplica',
}
