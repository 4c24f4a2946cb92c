/** Keys, safelist, webhooks and the request log. */
export const developers = {
  'Enter a name, such as the system that uses the key.':
    'Saisissez un nom, par exemple celui du système qui utilise la clé.',
  'Enter the last day, such as 2027-01-31. It must not be over.':
    'Saisissez le dernier jour, par exemple 2027-01-31. Il ne doit pas être passé.',
  'Error: Make a key': 'Erreur : créer une clé',
  'Make a key': 'Créer une clé',
  'You see the key once, on the next page.': 'La clé s’affiche une seule fois, sur la page suivante.',
  'Not made yet': 'Pas encore créée',
  'The system that uses it. The name becomes part of the key.':
    'Le système qui l’utilise. Le nom fait partie de la clé.',
  Type: 'Type',
  'It may also': 'Elle peut aussi',
  'Manage templates': 'Gérer les modèles',
  'Only a manager can create a key that manages templates.':
    'Seul un gestionnaire peut créer une clé qui gère les modèles.',
  'Create, change and archive them by the API.': 'Les créer, les modifier et les archiver par l’API.',
  'Manage webhooks': 'Gérer les webhooks',
  'Those of its own type of key.': 'Ceux de son propre type de clé.',
  'After 30 days': 'Après 30 jours',
  'After 90 days': 'Après 90 jours',
  'After one year': 'Après un an',
  'On a day': 'À une date',
  Never: 'Jamais',
  'Last day, if it ends on a day': 'Dernier jour, si elle prend fin à une date',
  'The key works until the end of this day, UTC.': 'La clé fonctionne jusqu’à la fin de ce jour, UTC.',
  'Make the key': 'Créer la clé',
  'Copy the key': 'Copiez la clé',
  'Copy the key “{1}” now': 'Copiez maintenant la clé « {1} »',
  'You see it only once. Herald keeps no copy that anybody could read.':
    'Elle ne s’affiche qu’une fois. Herald n’en garde aucune copie lisible.',
  Copy: 'Copier',
  'Try it': 'Essayer',
  'The key is revoked. Programs that use it are refused from now on.':
    'La clé est révoquée. Les programmes qui l’utilisent sont refusés désormais.',
  'This key was made already. It is shown only once: if you do not have it, make another one.':
    'Cette clé a déjà été créée. Elle ne s’affiche qu’une fois : si vous ne l’avez pas, créez-en une autre.',
  'A key is a password for a program. Give each system its own.':
    'Une clé est un mot de passe pour un programme. Donnez à chaque système la sienne.',
  Safelist: 'Liste autorisée',
  'There is no key yet': 'Il n’y a pas encore de clé',
  'A program needs a key to send messages. Begin with a test key: it sends nothing.':
    'Un programme a besoin d’une clé pour envoyer des messages. Commencez par une clé de test : elle n’envoie rien.',
  Revoke: 'Révoquer',
  'made {1} by {2}': 'créée {1} par {2}',
  'revoked {1}, made by {2}': 'révoquée {1}, créée par {2}',
  'manages templates': 'gère les modèles',
  'manages webhooks': 'gère les webhooks',
  Expired: 'Expirée',
  Revoked: 'Révoquée',
  today: 'aujourd’hui',
  'in {1} day': 'dans {1} jour',
  'in {1} days': 'dans {1} jours',
  'Revoke a key': 'Révoquer une clé',
  'Revoke “{1}”?': 'Révoquer « {1} » ?',
  'Programs that use it are refused at once. This cannot be undone.':
    'Les programmes qui l’utilisent sont refusés aussitôt. C’est irréversible.',
  Made: 'Créée',
  '{1} by {2}': '{1} par {2}',
  'See what it called in the last 24 hours': 'Voir ses requêtes des dernières 24 heures',
  'Revoke the key': 'Révoquer la clé',
  'One line is not a recipient. Mend it or remove it.':
    'Une ligne n’est pas un destinataire. Corrigez-la ou retirez-la.',
  '{1} lines are not recipients. Mend them or remove them.':
    '{1} lignes ne sont pas des destinataires. Corrigez-les ou retirez-les.',
  'Somebody else changed the safelist meanwhile. Below is what you entered; saving it replaces their list of {1}.':
    'Quelqu’un d’autre a modifié la liste entre-temps. Ci-dessous, votre saisie ; l’enregistrer remplace la liste actuelle de {1}.',
  'Error: Safelist': 'Erreur : liste autorisée',
  'Recipients besides the team whom team keys reach, and everybody in trial mode.':
    'Destinataires hors de l’équipe que joignent les clés d’équipe et, en mode d’essai, toutes les clés.',
  'The safelist is saved. It applies from the next message on.':
    'La liste autorisée est enregistrée. Elle s’applique dès le prochain message.',
  'Lines with a problem': 'Lignes à corriger',
  'Line {1}': 'Ligne {1}',
  Recipients: 'Destinataires',
  'One e-mail address or phone number per line, at most {1}. Herald writes numbers with their country code.':
    'Une adresse courriel ou un numéro de téléphone par ligne, {1} au plus. Herald écrit les numéros avec leur indicatif.',
  'Save the safelist': 'Enregistrer la liste',
  'Sends to anyone. In trial mode only to the team and the safelist.':
    'Envoie à tout le monde. En mode d’essai, seulement à l’équipe et à la liste autorisée.',
  'Team and safelist': 'Équipe et liste autorisée',
  'Sends to the team and the safelist only, for example from a test system.':
    'Envoie seulement à l’équipe et à la liste autorisée, par exemple depuis un système de test.',
  'Sends nothing. What it would have sent is in the captured inbox.':
    'N’envoie rien. Ce qu’elle aurait envoyé se trouve dans la boîte de capture.',
  'The earlier secret signs too until {1}.': 'L’ancien secret signe aussi jusqu’au {1}.',
  'Enter a time that is over.': 'Saisissez un moment passé.',
  'Remove an endpoint': 'Retirer une adresse',
  'Remove {1}?': 'Retirer {1} ?',
  'It gets no further event. This cannot be undone.': 'Elle ne reçoit plus aucun événement. C’est irréversible.',
  'Events stay in the event list. To stop for a while only, pause the endpoint instead: then nothing is missed.':
    'Les événements restent dans la liste des événements. Pour un arrêt passager, mettez plutôt l’adresse en pause : rien ne manquera.',
  'Remove the endpoint': 'Retirer l’adresse',
  'Send a test event': 'Envoyer un événement de test',
  Pause: 'Mettre en pause',
  Resume: 'Reprendre',
  'Not sent again': 'Pas renvoyés',
  'The endpoint is added. Send a test event to see whether it answers.':
    'L’adresse est ajoutée. Envoyez un événement de test pour voir si elle répond.',
  'The endpoint is changed.': 'L’adresse est modifiée.',
  'The endpoint is paused. Events wait until you resume it.':
    'L’adresse est en pause. Les événements attendent la reprise.',
  'The endpoint is active. It gets everything from where it stopped.':
    'L’adresse est active. Elle reçoit tout depuis l’endroit où elle s’est arrêtée.',
  'The events are sent again, beside the new ones.': 'Les événements sont renvoyés, à côté des nouveaux.',
  'The test event got no answer': 'L’événement de test est resté sans réponse',
  'The test event was answered with {1}': 'Réponse à l’événement de test : {1}',
  'After {1} ms: {2}. Check the address, and whether your server can be reached.':
    'Après {1} ms : {2}. Vérifiez l’adresse, et que votre serveur est joignable.',
  'It took {1} ms. The endpoint works.': 'Cela a pris {1} ms. L’adresse fonctionne.',
  'It took {1} ms. An endpoint must answer with a status from 200 to 299.':
    'Cela a pris {1} ms. Une adresse doit répondre par un statut de 200 à 299.',
  'Disabled: it answered 410 (gone)': 'Désactivée : elle a répondu 410 (disparue)',
  'Disabled: no success for 72 hours': 'Désactivée : aucun succès depuis 72 heures',
  'No event is lost. When your program works again, resume the endpoint: it gets everything from where it stopped.':
    'Aucun événement n’est perdu. Quand votre programme fonctionne à nouveau, reprenez : l’adresse reçoit tout depuis l’endroit où elle s’est arrêtée.',
  'It does not accept events': 'Elle n’accepte pas les événements',
  'Since {1}. Herald tries again with growing pauses. After 72 hours without a success the endpoint is disabled, and its managers get a mail.':
    'Depuis {1}. Herald réessaie avec des pauses croissantes. Après 72 heures sans succès, l’adresse est désactivée et les responsables reçoivent un courriel.',
  'Waiting events': 'Événements en attente',
  'Failures in a row': 'Échecs de suite',
  'Last success': 'Dernier succès',
  Attempts: 'Tentatives',
  'Attempts by result': 'Tentatives par résultat',
  All: 'Tous',
  'Refused events': 'Événements refusés',
  'No event waits alone': 'Aucun événement n’attend seul',
  'No attempt': 'Aucune tentative',
  'Events that the endpoint refuses while it takes others are tried again here.':
    'Les événements que l’adresse refuse alors qu’elle en accepte d’autres sont réessayés ici.',
  'Attempts are kept for {1} days.': 'Les tentatives sont gardées {1} jours.',
  '1 entry': '1 entrée',
  '{1} entries': '{1} entrées',
  'No answer': 'Sans réponse',
  event: 'événement',
  'and {1} more, first after {2} ms': 'et {1} autres, le premier après {2} ms',
  'after {1} ms': 'après {1} ms',
  'First of {1} requests': 'Première de {1} requêtes',
  Request: 'Requête',
  'The event is no longer kept.': 'L’événement n’est plus gardé.',
  'Made again from the event list; signatures and tokens are left out.':
    'Reconstituée d’après la liste des événements, sans signatures ni jetons.',
  'Answer, {1} ms': 'Réponse, {1} ms',
  'Send this event again': 'Renvoyer cet événement',
  Event: 'Événement',
  Answer: 'Réponse',
  Failures: 'Échecs',
  'Next attempt': 'Prochaine tentative',
  'Send all refused events again': 'Renvoyer tous les événements refusés',
  'Send again from a moment': 'Renvoyer à partir d’un moment',
  'Everything since': 'Tout depuis',
  'Send these events again': 'Renvoyer ces événements',
  'About this endpoint': 'À propos de cette adresse',
  'Replace the secret': 'Remplacer le secret',
  'Messages of': 'Messages des clés',
  Format: 'Format',
  Events: 'Événements',
  'All types': 'Tous les types',
  'in the events': 'dans les événements',
  'left out': 'omis',
  Secrets: 'Secrets',
  '{1} sign each request, until the earlier one ends': '{1} signent chaque requête, jusqu’à la fin de l’ancien',
  'You see the new secret once. For 24 hours requests are signed with both, so that your program can change without a gap.':
    'Le nouveau secret s’affiche une seule fois. Pendant 24 heures, les requêtes sont signées avec les deux, pour que votre programme puisse changer sans interruption.',
  'Enter the address of your program, such as https://example.org/events.':
    'Saisissez l’adresse de votre programme, par exemple https://example.org/events.',
  'Enter the token that your program expects.': 'Saisissez le jeton que votre programme attend.',
  'Choose at least one type of event, or all of them.': 'Choisissez au moins un type d’événement, ou tous.',
  'Change the endpoint': 'Modifier l’adresse',
  'Add an endpoint': 'Ajouter une adresse',
  'What is not sent yet goes to the new address.': 'Ce qui n’est pas encore envoyé part à la nouvelle adresse.',
  'It gets what happens from now on. You see its secret once, on the next page.':
    'Elle reçoit ce qui se passe à partir de maintenant. Son secret s’affiche une seule fois, sur la page suivante.',
  'Where Herald posts events. It must be reachable from the internet, over https.':
    'Là où Herald envoie les événements. Elle doit être joignable depuis Internet, en https.',
  'Save the endpoint': 'Enregistrer l’adresse',
  'Add the endpoint': 'Ajouter l’adresse',
  'It gets events of messages that were sent with keys of this type.':
    'Elle reçoit les événements des messages envoyés avec des clés de ce type.',
  'Standard Webhooks, signed': 'Standard Webhooks, signé',
  'Your program checks the signature with the secret. The usual choice.':
    'Votre programme vérifie la signature avec le secret. Le choix habituel.',
  'Callback with a token': 'Rappel avec un jeton',
  'For programs that were written for delivery receipts with a bearer token.':
    'Pour les programmes écrits pour des accusés de remise avec un jeton.',
  'Token, for a callback': 'Jeton, pour un rappel',
  '10 to 500 characters. Herald sends it as Authorization: Bearer.':
    'De 10 à 500 caractères. Herald l’envoie comme Authorization: Bearer.',
  'New token': 'Nouveau jeton',
  'Leave it empty to keep the one it has.': 'Laissez vide pour garder celui qu’elle a.',
  'The final statuses': 'Les statuts définitifs',
  'Only those chosen below': 'Seulement ceux choisis ci-dessous',
  'Choose types of events': 'Choisir des types d’événements',
  'Types of events': 'Types d’événements',
  'Events in one request, at most': 'Événements par requête, au plus',
  '1 to {1}. With more than 1 the body is a list. A callback always has one.':
    'De 1 à {1}. Avec plus de 1, le corps est une liste. Un rappel en a toujours un.',
  'Personal data': 'Données personnelles',
  'Add the recipient to events of messages': 'Ajouter le destinataire aux événements de messages',
  'Without it events have ids and references only.':
    'Sans cela, les événements n’ont que des identifiants et des références.',
  'Your endpoint gets events from now on.': 'Votre adresse reçoit les événements à partir de maintenant.',
  'Copy the secret': 'Copiez le secret',
  'Copy the secret now': 'Copiez le secret maintenant',
  'You see it only once. Your program checks with it that a request comes from Herald.':
    'Il ne s’affiche qu’une fois. Votre programme s’en sert pour vérifier qu’une requête vient de Herald.',
  'Go to the endpoint': 'Aller à l’adresse',
  'Herald calls your server when the status of a message changes.':
    'Herald appelle votre serveur quand le statut d’un message change.',
  'The endpoint is removed. Its events stay in the event list.':
    'L’adresse est retirée. Ses événements restent dans la liste des événements.',
  'This endpoint was added already. Its secret is shown only once: replace it if you do not have it.':
    'Cette adresse a déjà été ajoutée. Son secret ne s’affiche qu’une fois : remplacez-le si vous ne l’avez pas.',
  'There is no endpoint yet': 'Il n’y a pas encore d’adresse',
  'Add the address of a program of yours. Herald posts each change to it, signed, and tries again for 72 hours.':
    'Ajoutez l’adresse d’un de vos programmes. Herald y envoie chaque changement, signé, et réessaie pendant 72 heures.',
  '{1} is disabled': '{1} est désactivée',
  'It has not accepted an event yet.': 'Elle n’a encore accepté aucun événement.',
  'Last good answer: {1}.': 'Dernière bonne réponse : {1}.',
  'Events are kept as long as messages are, and messages are sent as usual.':
    'Les événements sont gardés aussi longtemps que les messages, et les messages partent comme d’habitude.',
  'See the attempts': 'Voir les tentatives',
  Endpoints: 'Adresses',
  Endpoint: 'Adresse appelée',
  'with a token, one message per request': 'avec un jeton, un message par requête',
  'signed, one event per request': 'signé, un événement par requête',
  'signed, up to {1} events per request': 'signé, jusqu’à {1} événements par requête',
  '{1} type': '{1} type',
  '{1} types': '{1} types',
  Disabled: 'Désactivée',
  Paused: 'En pause',
  Failing: 'En échec',
  Healthy: 'Fonctionne',
  'Request log': 'Journal des requêtes',
  'What your keys called in the last 24 hours, and what Herald answered. No contents, no recipients.':
    'Ce que vos clés ont appelé ces dernières 24 heures, et ce que Herald a répondu. Sans contenus ni destinataires.',
  '{1} request': '{1} requête',
  '{1} requests': '{1} requêtes',
  'Requests appear after about a second. Of a service that makes many at once, up to {1} answered ones and then {2} per second are listed for each process of Herald; the rest are counted. Requests without a known key are not here.':
    'Les requêtes apparaissent après une seconde environ. Pour un service qui en fait beaucoup à la fois, jusqu’à {1} requêtes abouties, puis {2} par seconde, sont listées pour chaque processus de Herald ; les autres sont comptées. Les requêtes sans clé connue n’y sont pas.',
  'Filter requests': 'Filtrer les requêtes',
  'Answered (2xx)': 'Abouties (2xx)',
  'Refused (4xx)': 'Refusées (4xx)',
  'Failed (5xx)': 'En erreur (5xx)',
  Took: 'Durée',
  '{1} ms': '{1} ms',
  '{1} more request was counted and not listed': '{1} autre requête a été comptée sans être listée',
  '{1} more requests were counted and not listed': '{1} autres requêtes ont été comptées sans être listées',
  'No request matches': 'Aucune requête ne correspond',
  'Requests are kept for 24 hours.': 'Les requêtes sont gardées 24 heures.',
  'Show all requests': 'Afficher toutes les requêtes',
  'No request in the last 24 hours': 'Aucune requête ces dernières 24 heures',
  'Make a key, then call Herald with it. The request appears here.':
    'Créez une clé, puis appelez Herald avec elle. La requête apparaît ici.',
  'Open the keys': 'Ouvrir les clés',
  'requests of {1}': 'requêtes de {1}',
  'Oldest waiting event': 'Plus ancien en attente',
  'All attempts': 'Toutes les tentatives',
  'Failed attempts': 'Tentatives échouées',
  'This request had {1} events. The first one is shown.':
    'Cette requête contenait {1} événements. Le premier est affiché.',
  'Send the first event again': 'Renvoyer le premier événement',
  'Open the message': 'Ouvrir le message',
  'The address {1}.': 'L’adresse {1}.',
  'Enter a whole number from 1 to {1}.': 'Saisissez un nombre entier de 1 à {1}.',
  'Enter {1} to {2} letters, digits and signs of ASCII, without spaces.':
    'Saisissez de {1} à {2} lettres, chiffres et signes ASCII, sans espaces.',
  'A callback tells only the final statuses of messages. Choose among them, or all types.':
    'Un rappel n’annonce que les statuts finaux des messages. Choisissez parmi eux, ou tous les types.',
  'Messages, 7 days': 'Messages, 7 jours',
  'Enter a time such as 2026-11-02T09:15:00Z.': 'Saisissez un moment tel que 2026-11-02T09:15:00Z.',
  'A time in UTC, such as 2026-11-02T09:15:00Z. Your program tells repeated events by their ids.':
    'Un moment en UTC, tel que 2026-11-02T09:15:00Z. Votre programme reconnaît les événements répétés à leur identifiant.',
  '{1} does not accept events': '{1} n’accepte pas les événements',
}
