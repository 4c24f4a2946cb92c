/** Sentences of other parts of Herald that the console shows. */
export const sentences = {
  'kept in the inbox of Herald and not delivered to anyone':
    'conservé dans la boîte de capture de Herald, et n’a été distribué à personne',
  'this installation has no provider for {1}': 'cette installation n’a pas de fournisseur pour les {1}',
  'ask the operator to configure one, then send again':
    'demandez à l’opérateur d’en configurer un, puis envoyez à nouveau',
  'made with a test key, so nothing was sent, and the status {1} is simulated':
    'fait avec une clé de test\u00a0: rien n’a été envoyé, et le statut {1} est simulé',
  'addressed to a simulated recipient, so nothing was sent, and the status {1} is simulated':
    'adressé à un destinataire simulé\u00a0: rien n’a été envoyé, et le statut {1} est simulé',
  'use a live key to send it': 'utilisez une clé de production pour l’envoyer',
  'use a real recipient': 'utilisez un vrai destinataire',
  'its files wait for the virus scanner': 'ses fichiers attendent l’antivirus',
  'the message is sent as soon as they are found clean': 'le message part dès qu’ils sont reconnus sains',
  'a virus was found in one of its files': 'un virus a été trouvé dans l’un de ses fichiers',
  'the message was not sent': 'le message n’a pas été envoyé',
  'remove the file and send again': 'retirez le fichier et envoyez à nouveau',
  'cancelled by {1} at {2}': 'annulé par {1} à {2}',
  'cancelled by {1}': 'annulé par {1}',
  'cancelled at {1}': 'annulé à {1}',
  cancelled: 'annulé',
  'it was not sent': 'il n’a pas été envoyé',
  'send again if it is still needed': 'envoyez à nouveau s’il est encore utile',
  'it may have been sent: the answer of {1} was lost at {2}':
    'il a peut-être été envoyé\u00a0: la réponse de {1} a été perdue à {2}',
  'it may have been sent: the answer of {1} was lost':
    'il a peut-être été envoyé\u00a0: la réponse de {1} a été perdue',
  'a receipt may still tell': 'un accusé de réception peut encore le dire',
  'ask the recipient before you send again': 'demandez au destinataire avant d’envoyer à nouveau',
  'accepted by {1} at {2}': 'accepté par {1} à {2}',
  'accepted by {1}': 'accepté par {1}',
  'an earlier attempt may have arrived as well, so the recipient may have it twice':
    'un essai antérieur est peut-être arrivé aussi\u00a0: le destinataire l’a peut-être deux fois',
  'its receipt has not come yet (72 hours at most)':
    'son accusé de réception n’est pas encore venu (72 heures au plus)',
  'not delivered yet': 'pas encore distribué',
  'the provider keeps trying': 'le fournisseur continue d’essayer',
  'for numbers of other countries no receipt is expected, so delivery is not confirmed':
    'pour les numéros d’autres pays, aucun accusé n’est attendu\u00a0: la distribution n’est pas confirmée',
  'that counts as delivered, but no receipt confirms it':
    'cela compte comme distribué, mais aucun accusé ne le confirme',
  'delivered at {1}, as {2} reported': 'distribué à {1}, selon {2}',
  'delivered, as {1} reported': 'distribué, selon {1}',
  'the provider {1}': 'le fournisseur {1}',
  'the provider': 'le fournisseur',
  'no receipt came within 72 hours, so nobody knows whether it arrived':
    'aucun accusé n’est venu en 72 heures\u00a0: personne ne sait s’il est arrivé',
  'It could not be delivered for the time being': 'Il n’a pas pu être distribué pour le moment',
  'send again later or use another channel': 'envoyez à nouveau plus tard ou utilisez un autre canal',
  'it could not be sent within 72 hours': 'il n’a pas pu être envoyé en 72 heures',
  'The provider refused it': 'Le fournisseur l’a refusé',
  'ask the operator to look at the reply': 'demandez à l’opérateur de regarder la réponse',
  'if it does not arrive, ask the recipient to look into the junk folder':
    's’il n’arrive pas, demandez au destinataire de regarder dans ses courriers indésirables',
  'if it does not arrive, check the number': 's’il n’arrive pas, vérifiez le numéro',
  'The address cannot receive it': 'L’adresse ne peut pas le recevoir',
  'check the address, or use another channel': 'vérifiez l’adresse, ou utilisez un autre canal',
  'The number cannot receive it': 'Le numéro ne peut pas le recevoir',
  'check the number, or use another channel': 'vérifiez le numéro, ou utilisez un autre canal',
  'scheduled for {1}': 'programmé pour {1}',
  'nothing was sent yet': 'rien n’a encore été envoyé',
  'it can be cancelled until then': 'il peut être annulé jusque-là',
  'sending is held by the operator, and goes on after the release':
    'l’envoi est suspendu par l’opérateur, et reprendra ensuite',
  'accepted at {1} and waiting for its turn': 'accepté à {1}, attend son tour',
  'if it lasts, ask the operator': 'si cela dure, demandez à l’opérateur',
  'The provider does not take it at the moment': 'Le fournisseur ne le prend pas pour le moment',
  'the recipient may get it twice': 'le destinataire le recevra peut-être deux fois',
  'one attempt may have been delivered': 'un essai a peut-être été distribué',
  'tried once at {1}': 'essayé une fois à {1}',
  'tried once': 'essayé une fois',
  'tried {1} times until {2}': 'essayé {1} fois jusqu’à {2}',
  'tried {1} times': 'essayé {1} fois',
  'next try soon': 'prochain essai bientôt',
  'next try at {1}': 'prochain essai à {1}',
  'rate limit': 'limite de débit',
  'The provider limits how much it takes at the moment': 'Le fournisseur limite ce qu’il prend pour le moment',
  'send again later, or ask the operator to raise the quota with the provider':
    'envoyez à nouveau plus tard, ou demandez à l’opérateur de relever le quota chez le fournisseur',
  'mailbox full': 'boîte pleine',
  "Mailbox full at the recipient's provider": 'Boîte pleine chez le fournisseur du destinataire',
  'message too large': 'message trop volumineux',
  'The message is too large for the recipient': 'Le message est trop volumineux pour le destinataire',
  'send a shorter one, with smaller files or with links instead of files':
    'envoyez-en un plus court, avec des fichiers plus petits ou des liens à leur place',
  'no storage': 'plus d’espace',
  'No room at the moment on the mail server of the recipient':
    'Plus de place pour le moment sur le serveur du destinataire',
  'no encryption': 'pas de chiffrement',
  'The provider offers no encrypted connection': 'Le fournisseur n’offre pas de connexion chiffrée',
  'ask the operator (herald doctor checks the providers)':
    'demandez à l’opérateur (herald doctor vérifie les fournisseurs)',
  'login refused': 'connexion refusée',
  'The provider does not accept the credentials of this installation':
    'Le fournisseur n’accepte pas les identifiants de cette installation',
  'ask the operator to correct them': 'demandez à l’opérateur de les corriger',
  greylisted: 'liste grise',
  'The mail server of the recipient asks unknown senders to try again (greylisting)':
    'Le serveur du destinataire demande aux expéditeurs inconnus de réessayer (liste grise)',
  'attachment rejected': 'pièce jointe rejetée',
  "The recipient's provider rejects one of the files": 'Le fournisseur du destinataire rejette l’un des fichiers',
  'send it as a link or in another format': 'envoyez-le comme lien ou dans un autre format',
  'content rejected': 'contenu rejeté',
  "The recipient's provider rejects the content as unwanted":
    'Le fournisseur du destinataire rejette le contenu comme indésirable',
  'change the text or the links of the template and send again':
    'changez le texte ou les liens du modèle et envoyez à nouveau',
  'opted out': 'désabonné',
  'The recipient has opted out of text messages from this number': 'Le destinataire refuse les SMS de ce numéro',
  'use another channel; only the recipient can opt in again':
    'utilisez un autre canal\u00a0; seul le destinataire peut les accepter à nouveau',
  'sender not accepted': 'expéditeur non accepté',
  'The provider does not accept this sender': 'Le fournisseur n’accepte pas cet expéditeur',
  'ask the operator to register the sender with the provider':
    'demandez à l’opérateur d’enregistrer l’expéditeur chez le fournisseur',
  blocked: 'bloqué',
  "Blocked by the recipient's provider or by a block list":
    'Bloqué par le fournisseur du destinataire ou par une liste de blocage',
  'use another channel; if many messages are blocked, ask the operator':
    'utilisez un autre canal\u00a0; si beaucoup de messages sont bloqués, demandez à l’opérateur',
  'Blocked by the carrier': 'Bloqué par l’opérateur mobile',
  'mailbox inactive': 'boîte inactive',
  'The mailbox is not in use any more': 'La boîte n’est plus utilisée',
  'ask the recipient for another address': 'demandez une autre adresse au destinataire',
  'domain unknown': 'domaine inconnu',
  'The domain of the address does not exist or takes no mail':
    'Le domaine de l’adresse n’existe pas ou ne prend pas de courrier',
  'check the address for a typing mistake': 'cherchez une faute de frappe dans l’adresse',
  'unknown address': 'adresse inconnue',
  "There is no such address at the recipient's provider":
    'Cette adresse n’existe pas chez le fournisseur du destinataire',
  'check the address for a typing mistake, or ask the recipient for another one':
    'cherchez une faute de frappe dans l’adresse, ou demandez-en une autre au destinataire',
  'invalid number': 'numéro inexistant',
  'The number does not exist or cannot receive text messages': 'Le numéro n’existe pas ou ne peut pas recevoir de SMS',
  'phone unreachable': 'téléphone injoignable',
  'The phone could not be reached in time': 'Le téléphone n’a pas pu être joint à temps',
  'carrier problem': 'problème d’opérateur mobile',
  'The carrier could not deliver the message': 'L’opérateur mobile n’a pas pu distribuer le message',
  'no provider': 'pas de fournisseur',
  'No provider of this channel answers': 'Aucun fournisseur de ce canal ne répond',
  'ask the operator (herald doctor shows which provider is down)':
    'demandez à l’opérateur (herald doctor montre quel fournisseur est en panne)',
  'host not found': 'hôte introuvable',
  'The name of the provider could not be resolved (DNS)': 'Le nom du fournisseur n’a pas pu être résolu (DNS)',
  'connection refused': 'connexion refusée',
  'The provider refused the connection': 'Le fournisseur a refusé la connexion',
  'The provider did not answer in time': 'Le fournisseur n’a pas répondu à temps',
  'send again later; if it lasts, ask the operator':
    'envoyez à nouveau plus tard\u00a0; si cela dure, demandez à l’opérateur',
  'connection lost': 'connexion perdue',
  'The connection to the provider was lost': 'La connexion au fournisseur a été perdue',
  'provider restarting': 'redémarrage',
  'Herald was being restarted': 'Herald était en train de redémarrer',
  'send again': 'envoyez à nouveau',
  'no scan result': 'pas de résultat d’analyse',
  'The virus scanner gave no result for the files': 'L’antivirus n’a donné aucun résultat pour les fichiers',
  'ask the operator to check the scanner, then send again':
    'demandez à l’opérateur de vérifier l’antivirus, puis envoyez à nouveau',
  'files not available': 'fichiers indisponibles',
  'The files of the message could not be read': 'Les fichiers du message n’ont pas pu être lus',
  'send again with the files': 'envoyez à nouveau avec les fichiers',
  'service not active': 'service inactif',
  'The service was suspended or archived when the message was due':
    'Le service était suspendu ou archivé quand le message devait partir',
  'ask the operator to make it active, then send again': 'demandez à l’opérateur de l’activer, puis envoyez à nouveau',
  'channel off': 'canal désactivé',
  'This channel is switched off in this installation': 'Ce canal est désactivé dans cette installation',
  'use another channel, or ask the operator': 'utilisez un autre canal, ou demandez à l’opérateur',
  'empty message': 'message vide',
  'The message has no text with these values': 'Le message n’a pas de texte avec ces valeurs',
  'check the template and the values, then send again': 'vérifiez le modèle et les valeurs, puis envoyez à nouveau',
  'set aside': 'mis de côté',
  'Herald failed on the message repeatedly': 'Herald a échoué plusieurs fois sur ce message',
  'ask the operator to look at the log; it names the message':
    'demandez à l’opérateur de regarder le journal\u00a0; il nomme le message',
  rejected: 'rejeté',
  "The recipient's provider rejects the message": 'Le fournisseur du destinataire rejette le message',
  'temporary problem': 'problème passager',
  "The recipient's provider has a temporary problem": 'Le fournisseur du destinataire a un problème passager',
  'The provider has a problem of its own': 'Le fournisseur a un problème de son côté',
  '{1} earlier events are not shown.': '{1} événements antérieurs ne sont pas affichés.',
  'The status became {1}; how is not recorded, because the message is older than the log.':
    'Le statut est devenu {1}\u00a0; comment n’est pas enregistré, car le message est plus ancien que le journal.',
  'Given up: no receipt within 72 hours.': 'Abandonné\u00a0: aucun accusé de réception en 72 heures.',
  'Given up: not sent within 72 hours.': 'Abandonné\u00a0: pas envoyé en 72 heures.',
  'Given up: its files were not scanned within 72 hours.':
    'Abandonné\u00a0: ses fichiers n’ont pas été analysés en 72 heures.',
  'The job has changed.': 'L’envoi groupé a changé.',
  'the key "{1}"': 'la clé «\u00a0{1}\u00a0»',
  'the person "{1}"': '«\u00a0{1}\u00a0»',
  'the key {1}': 'la clé {1}',
  'the person {1}': 'la personne {1}',
  'Unknown browser': 'Navigateur inconnu',
  'e-mail': 'courriel',
  'text message': 'SMS',
  'The subject is empty. Many mail programs treat that as spam.':
    'L’objet est vide. Beaucoup de messageries y voient un courrier indésirable.',
  'The subject has {1} characters. At most {2} are possible.':
    'L’objet a {1} caractères. Il peut en avoir {2} au plus.',
  'Enter a message: an empty one is never sent.': 'Saisissez un message\u00a0: un message vide n’est jamais envoyé.',
  'The message has {1} characters. At most {2} are possible.':
    'Le message a {1} caractères. Il peut en avoir {2} au plus.',
  'With the example values the message is too large to send.':
    'Avec les valeurs d’exemple, le message est trop volumineux pour être envoyé.',
  'With the example values the message has {1} characters. Sends of more than {2} are refused.':
    'Avec les valeurs d’exemple, le message a {1} caractères. Les envois de plus de {2} sont refusés.',
  '{1} are the same placeholder and take the same value.': '{1} sont le même champ et prennent la même valeur.',
  '“(())” has no name and is sent as it is.': '«\u00a0(())\u00a0» n’a pas de nom et est envoyé tel quel.',
  '“((” is never closed by “))” and is sent as it is.':
    '«\u00a0((\u00a0» n’est jamais fermé par «\u00a0))\u00a0» et est envoyé tel quel.',
  '“))” closes nothing and is sent as it is.': '«\u00a0))\u00a0» ne ferme rien et est envoyé tel quel.',
  'A placeholder has no name.': 'Un champ n’a pas de nom.',
  'The name of (({1})) has a line break or a tab. Is a “))” missing?':
    'Le nom de (({1})) contient un saut de ligne ou une tabulation. Manque-t-il un «\u00a0))\u00a0»\u00a0?',
  '(({1})) is no condition, but a placeholder of this name. A condition has two question marks: ((name??text)).':
    '(({1})) n’est pas une condition, mais un champ de ce nom. Une condition a deux points d’interrogation\u00a0: ((nom??texte)).',
  'The name of (({1})) has a bracket.': 'Le nom de (({1})) contient une parenthèse.',
  'The text of the condition “{1}” has a placeholder, which is sent as it is.':
    'Le texte de la condition «\u00a0{1}\u00a0» contient un champ, qui est envoyé tel quel.',
  'The condition “{1}” has no text and shows nothing.':
    'La condition «\u00a0{1}\u00a0» n’a pas de texte et ne montre rien.',
  'The link to “{1}” leads nowhere: only http, https, mailto and tel are allowed.':
    'Le lien vers «\u00a0{1}\u00a0» ne mène nulle part\u00a0: seuls http, https, mailto et tel sont autorisés.',
  'Too many tries. Try again in {1}.': 'Trop d’essais. Réessayez dans {1}.',
  '1 minute': '1 minute',
  '{1} minutes': '{1} minutes',
  'Links in mails need the public address of this installation. Set HERALD_BASE_URL and start Herald again.':
    'Les liens des courriels demandent l’adresse publique de cette installation. Réglez HERALD_BASE_URL et redémarrez Herald.',
  '"{1}" is the only manager of this service. Make somebody else a manager first, or ask an operator.':
    '«\u00a0{1}\u00a0» est le seul gestionnaire de ce service. Nommez d’abord un autre gestionnaire, ou demandez à un opérateur.',
  '"{1}" is the only operator. Make somebody else an operator first.':
    '«\u00a0{1}\u00a0» est le seul opérateur. Nommez d’abord un autre opérateur.',
  '"{1}" is not an operator.': '«\u00a0{1}\u00a0» n’est pas opérateur.',
  '"{1}" is already an operator.': '«\u00a0{1}\u00a0» est déjà opérateur.',
  '"{1}" is already in the team of this service.': '«\u00a0{1}\u00a0» est déjà dans l’équipe de ce service.',
  'Sign in as "{1}" first, then accept the invitation.':
    'Connectez-vous d’abord comme «\u00a0{1}\u00a0», puis acceptez l’invitation.',
  'This invitation was accepted, withdrawn or has ended.': 'Cette invitation a été acceptée, retirée ou a pris fin.',
  'There is already a service named "{1}". Choose another name.':
    'Il y a déjà un service nommé «\u00a0{1}\u00a0». Choisissez un autre nom.',
  'The service "{1}" is archived. Make it active first.':
    'Le service «\u00a0{1}\u00a0» est archivé. Activez-le d’abord.',
  'The {1} must not be empty.': 'Le champ «\u00a0{1}\u00a0» ne doit pas être vide.',
  'The {1} must have at most {2} characters.': 'Le champ «\u00a0{1}\u00a0» doit avoir {2} caractères au plus.',
  'The {1} must be one line without control characters.':
    'Le champ «\u00a0{1}\u00a0» doit tenir sur une ligne, sans caractères de contrôle.',
  'The {1} must be a whole number from 0 to 2147483647.':
    'Le champ «\u00a0{1}\u00a0» doit être un nombre entier de 0 à 2147483647.',
  'The {1} must be a whole number of days from 1 to 365.':
    'Le champ «\u00a0{1}\u00a0» doit être un nombre entier de jours de 1 à 365.',
  '"{1}" is not a mailbox. It must be 1 to 64 small letters, digits, dots, hyphens and underscores, with dots only between others.':
    '«\u00a0{1}\u00a0» n’est pas un nom de boîte. Il doit avoir de 1 à 64 minuscules, chiffres, points, traits d’union et soulignés, avec des points seulement entre d’autres.',
  '"{1}" is not a valid e-mail address.': '«\u00a0{1}\u00a0» n’est pas une adresse courriel valable.',
  '"{1}" is not a valid phone number. Write it with the country code, like +16135550123.':
    '«\u00a0{1}\u00a0» n’est pas un numéro de téléphone valable. Écrivez-le avec l’indicatif du pays, comme +16135550123.',
  '"{1}" is not a text sender. It must be a name of 1 to 11 letters and digits, a short code of 3 to 8 digits, or a phone number.':
    '«\u00a0{1}\u00a0» n’est pas un expéditeur de SMS. Il faut un nom de 1 à 11 lettres et chiffres, un numéro court de 3 à 8 chiffres, ou un numéro de téléphone.',
  '"{1}" is not a country. Write two capital letters, like CA or FR.':
    '«\u00a0{1}\u00a0» n’est pas un pays. Écrivez deux majuscules, comme CA ou FR.',
  '"{1}" is neither an e-mail address nor a phone number.':
    '«\u00a0{1}\u00a0» n’est ni une adresse courriel ni un numéro de téléphone.',
  '"{1}" is already a team member of this service.': '«\u00a0{1}\u00a0» est déjà membre de l’équipe de ce service.',
  '"{1}" is already a reply-to address of this service.':
    '«\u00a0{1}\u00a0» est déjà une adresse de réponse de ce service.',
  '"{1}" is already a text sender of this service.': '«\u00a0{1}\u00a0» est déjà un expéditeur de SMS de ce service.',
  '"{1}" is already on the safelist of this service.':
    '«\u00a0{1}\u00a0» est déjà sur la liste autorisée de ce service.',
  'Content has a character count greater than the limit of {1}': 'Le contenu dépasse la limite de {1} caractères',
  'Template name must be less than {1} characters': 'Le nom du modèle doit avoir moins de {1} caractères',
  'Template is already archived.': 'Le modèle est déjà archivé.',
  'There is already a folder named "{1}" in this place.':
    'Il y a déjà un dossier nommé «\u00a0{1}\u00a0» à cet endroit.',
  'A folder cannot be moved into itself or into a folder that it contains.':
    'Un dossier ne peut pas être déplacé dans lui-même ni dans un dossier qu’il contient.',
  'At most {1} folders can be inside each other.': 'Au plus {1} dossiers peuvent s’emboîter.',
  'A service has at most {1} folders.': 'Un service a {1} dossiers au plus.',
  'Service is suspended': 'Le service est suspendu',
  'Service is not allowed to send emails': 'Le service n’a pas le droit d’envoyer des courriels',
  'Service is not allowed to send text messages': 'Le service n’a pas le droit d’envoyer des SMS',
  'Template has been deleted': 'Le modèle a été supprimé',
  'Message is empty or just whitespace': 'Le message est vide ou n’a que des espaces',
  "Can't send to this recipient when service is in trial mode":
    'Ce destinataire ne peut rien recevoir tant que le service est en mode d’essai',
  'Cannot send to international mobile numbers': 'L’envoi à des numéros mobiles d’autres pays n’est pas possible',
  'The files of the message are not stored any more': 'Les fichiers du message ne sont plus conservés',
  'Notification is not scheduled and cannot be deleted': 'Le message n’est pas programmé et ne peut pas être annulé',
  'Notification has already been sent and cannot be deleted': 'Le message a déjà été envoyé et ne peut pas être annulé',
  'daily limit of {1}': 'limite quotidienne de {1}',
  'retention of {1}': 'conservation des {1}',
  'limit of requests per minute': 'limite de requêtes par minute',
  'address is not allowed': 'adresse non autorisée',
  'host name is not known': 'nom d’hôte inconnu',
  'host name could not be resolved': 'nom d’hôte impossible à résoudre',
  'host is not reachable': 'hôte injoignable',
  'TLS connection failed': 'échec de la connexion TLS',
  'head of the answer is too large': 'en-tête de la réponse trop grand',
  'answer is not HTTP': 'la réponse n’est pas du HTTP',
  'connection was closed before the answer': 'connexion fermée avant la réponse',
  'connection failed': 'échec de la connexion',
  'TLS certificate is not valid': 'certificat non valable',
  'must have at most {1} characters': 'doit avoir au plus {1} caractères',
  'must be an address like https://example.org/events, in ASCII':
    'doit ressembler à https://example.org/events, en ASCII',
  'must begin with {1} or {2}; the operator decides by HERALD_WEBHOOK_SCHEMES':
    'doit commencer par {1} ou {2} ; l’opérateur en décide par HERALD_WEBHOOK_SCHEMES',
  'must begin with {1}; the operator decides by HERALD_WEBHOOK_SCHEMES':
    'doit commencer par {1} ; l’opérateur en décide par HERALD_WEBHOOK_SCHEMES',
  'must not contain a user name or a password': 'ne doit contenir ni nom d’utilisateur ni mot de passe',
  'must not contain a fragment (#)': 'ne doit pas contenir de fragment (#)',
  'must not use port {1}; the operator decides by HERALD_WEBHOOK_PORTS':
    'ne doit pas utiliser le port {1} ; l’opérateur en décide par HERALD_WEBHOOK_PORTS',
  'must not be an address inside a network; the operator decides by HERALD_WEBHOOK_ALLOW':
    'ne doit pas être interne à un réseau ; l’opérateur en décide par HERALD_WEBHOOK_ALLOW',
  'A service can have at most {1} webhooks. Remove one first.':
    'Un service peut avoir au plus {1} webhooks. Retirez-en un d’abord.',
  'This webhook has {1} replays that have not ended. Try again later.':
    'Ce webhook a {1} renvois qui ne sont pas terminés. Réessayez plus tard.',
  'This webhook has {1} single events that wait to be sent. Try again later.':
    'Ce webhook a {1} événements isolés en attente d’envoi. Réessayez plus tard.',
  'A test of this webhook has not ended yet. Try again in a few seconds.':
    'Un test de ce webhook n’est pas terminé. Réessayez dans quelques secondes.',
  'An event of type {1} cannot be sent in the format callback.':
    'Un événement du type {1} ne peut pas être envoyé au format rappel.',
  'This service does not ask to go live, or somebody has decided meanwhile.':
    'Ce service ne demande pas sa mise en service, ou quelqu’un a décidé entre-temps.',
  'Not everything that a live service needs is there yet. The list says what is missing.':
    'Il manque encore ce dont un service en production a besoin. La liste dit quoi.',
  'The number of {1} a day must be a whole number from 0 to 10000000.':
    'Le nombre de {1} par jour doit être un nombre entier de 0 à 10000000.',
  'A service has at most {1} reply-to addresses. Remove one first.':
    'Un service a au plus {1} adresses de réponse. Retirez-en une d’abord.',
  '"{1}" is not verified yet. Somebody must open the link that was sent to it first.':
    '« {1} » n’est pas encore confirmée. Quelqu’un doit d’abord ouvrir le lien qui y a été envoyé.',
  'Say why the service is suspended: its team sees it.': 'Dites pourquoi le service est suspendu : son équipe le voit.',
  'A safelist can have at most {1} recipients. Remove some.':
    'Une liste autorisée peut avoir au plus {1} destinataires. Retirez-en.',
  'No message of this job can be sent again': 'Aucun message de cet envoi groupé ne peut être renvoyé',
  'Meanwhile {1} messages can be sent again': 'Entre-temps, {1} messages peuvent être renvoyés',
  'Exceeded send limits ({1}) for today': 'Limite d’envoi du jour ({1}) dépassée',
  description: 'description',
}
