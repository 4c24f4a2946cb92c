/** Jobs: the list, one job, sending again. */
export const jobs = {
  'The job is cancelled. Nothing was sent.': 'L’envoi groupé est annulé. Rien n’a été envoyé.',
  'These messages are sent again. They leave as soon as it is their turn.':
    'Ces messages sont renvoyés. Ils partent dès que vient leur tour.',
  'The job is accepted. Its messages leave as soon as it is their turn.':
    'L’envoi groupé est accepté. Ses messages partent dès que vient leur tour.',
  'The job is accepted and waits for its time.': 'L’envoi groupé est accepté et attend son heure.',
  '{1}, version {2}. Made by {3}, {4}.': '{1}, version {2}. Créé par {3}, {4}.',
  'Download the report': 'Télécharger le rapport',
  'Cancel this job': 'Annuler cet envoi groupé',
  'Cancel this job?': 'Annuler cet envoi groupé ?',
  '{1} message is not sent. The job cannot be scheduled again, but you can download its file now and upload it later.':
    '{1} message n’est pas envoyé. L’envoi groupé ne peut pas être reprogrammé, mais vous pouvez télécharger son fichier maintenant et le déposer plus tard.',
  '{1} messages are not sent. The job cannot be scheduled again, but you can download its file now and upload it later.':
    '{1} messages ne sont pas envoyés. L’envoi groupé ne peut pas être reprogrammé, mais vous pouvez télécharger son fichier maintenant et le déposer plus tard.',
  'Cancel the job': 'Annuler l’envoi groupé',
  'A part of this job cannot be sent': 'Une partie de cet envoi groupé ne peut pas être envoyée',
  'Herald tries it again every half hour. Ask an operator to look at the log, which names the job.':
    'Herald réessaie toutes les demi-heures. Demandez à un opérateur de consulter le journal, qui nomme l’envoi groupé.',
  'It repeats rows of {1} that failed temporarily.': 'Il reprend des lignes de {1} qui ont échoué temporairement.',
  '{1} message was sent again on {2}: {3}': '{1} message a été renvoyé le {2} : {3}',
  '{1} messages were sent again on {2}: {3}': '{1} messages ont été renvoyés le {2} : {3}',
  'The messages are not kept any more, so nobody can say why they failed.':
    'Les messages ne sont plus conservés : personne ne peut dire pourquoi ils ont échoué.',
  'No message has failed.': 'Aucun message n’a échoué.',
  'Nothing was handed over when this page was loaded.': 'Rien n’était encore remis au chargement de cette page.',
  'No message had failed when this page was loaded.': 'Aucun message n’avait échoué au chargement de cette page.',
  'It waits for its turn': 'Il attend son tour',
  'It has just begun': 'Il vient de commencer',
  '“Send again” takes only those that may succeed, and none twice.':
    '« Renvoyer » ne prend que ceux qui peuvent réussir, et aucun deux fois.',
  'Failures by reason': 'Échecs par raison',
  'What to do': 'Que faire',
  'Open one of them to see what happened.': 'Ouvrez l’un d’eux pour voir ce qui s’est passé.',
  'Show the messages of this job': 'Afficher les messages de cet envoi groupé',
  'Scheduled for': 'Programmé pour',
  Started: 'Commencé',
  'Made by': 'Créé par',
  'Download the rows as CSV': 'Télécharger les lignes au format CSV',
  'Columns that the template does not use are not kept.':
    'Les colonnes que le modèle n’utilise pas ne sont pas conservées.',
  'Messages are kept until': 'Messages conservés jusqu’au',
  'Send {1} message again?': 'Renvoyer {1} message ?',
  'Send {1} messages again?': 'Renvoyer {1} messages ?',
  'No message of this job failed temporarily, or all of them were sent again.':
    'Aucun message de cet envoi groupé n’a échoué temporairement, ou tous ont été renvoyés.',
  'They failed temporarily: a full mailbox, a phone that was off, or no receipt within 72 hours. Some of the last kind may have arrived.':
    'Ils ont échoué temporairement : boîte pleine, téléphone éteint ou aucun accusé en 72 heures. Parmi ces derniers, certains sont peut-être arrivés.',
  'Each recipient gets a new message with the same values now. They count as messages of today.':
    'Chaque destinataire reçoit maintenant un nouveau message avec les mêmes valeurs. Ils comptent comme des messages d’aujourd’hui.',
  'Each recipient gets a new message with the same values now, by version {1} of the template instead of {2}. They count as messages of today.':
    'Chaque destinataire reçoit maintenant un nouveau message avec les mêmes valeurs, selon la version {1} du modèle au lieu de {2}. Ils comptent comme des messages d’aujourd’hui.',
  'The job was made with a test key, so they are simulated again: nothing is sent.':
    'L’envoi groupé a été créé avec une clé de test : ils sont de nouveau simulés et rien n’est envoyé.',
  'Send {1} message again': 'Renvoyer {1} message',
  'Send {1} messages again': 'Renvoyer {1} messages',
  'Files that were uploaded, and bulk requests of programs.': 'Fichiers déposés et demandes groupées des programmes.',
  '{1} job': '{1} envoi groupé',
  '{1} jobs': '{1} envois groupés',
  Ever: 'Toujours',
  '{1}, sent again': '{1}, renvoi',
  'Nothing handed over yet': 'Rien de remis pour l’instant',
  'No more jobs': 'Plus d’envois groupés',
  'There are many jobs to look through. Go on looking for older ones, or remove a filter.':
    'Il y a beaucoup d’envois groupés à parcourir. Continuez avec les plus anciens ou retirez un filtre.',
  'No job matches': 'Aucun envoi groupé ne correspond',
  'No job matches all of these filters.': 'Aucun envoi groupé ne correspond à tous ces filtres.',
  'No jobs yet': 'Pas encore d’envoi groupé',
  'A job sends one template to everybody in a file. It appears here with how far it is and what failed.':
    'Un envoi groupé envoie un modèle à toutes les personnes d’un fichier. Il apparaît ici avec son avancement et ses échecs.',
  'These messages are captured, not delivered to anyone.': 'Ces messages sont capturés et ne sont remis à personne.',
  'Messages of test keys are simulated, not delivered to anyone.':
    'Les messages des clés de test sont simulés et ne sont remis à personne.',
  '{1} handed over': '{1} transmis',
  'All handed over': 'Tout est transmis',
  'The message has its outcome': 'Le message a son résultat',
  'All {1} messages have their outcome': 'Les {1} messages ont leur résultat',
  'The provider has not said yet what became of {1} message':
    'Le fournisseur n’a pas encore dit ce qu’est devenu {1} message',
  'The provider has not said yet what became of {1} messages':
    'Le fournisseur n’a pas encore dit ce que sont devenus {1} messages',
  '{1} message a minute': '{1} message par minute',
  '{1} messages a minute': '{1} messages par minute',
  'Nothing was handed over in the last minute': 'Rien n’a été transmis pendant la dernière minute',
  'less than a minute left, {1}': 'moins d’une minute restante, {1}',
  'about {1} minute left, {2}': 'environ {1} minute restante, {2}',
  'about {1} minutes left, {2}': 'environ {1} minutes restantes, {2}',
  'about {1} hours left, {2}': 'environ {1} heures restantes, {2}',
  'Numbers of': 'Chiffres de',
  'No connection to Herald. These numbers are old.': 'Pas de connexion à Herald. Ces nombres ne sont plus à jour.',
}
