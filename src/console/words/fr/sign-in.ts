/** Signing in. */
export const signIn = {
  'What you opened needs a sign-in of the last {1} minutes.':
    'Ce que vous avez ouvert demande une connexion de moins de {1} minutes.',
  'Go back without confirming': 'Revenir sans confirmer',
  'No passkey was used. Try again, or ask for a link.':
    'Aucune clé d’accès n’a été utilisée. Réessayez, ou demandez un lien.',
  'Use a passkey': 'Utiliser une clé d’accès',
  'E-mail me a link': 'M’envoyer un lien',
  'Confirm with single sign-on': 'Confirmer par authentification unique',
  'Sign in': 'Se connecter',
  'The link works once. Pressing the button uses it.': 'Le lien fonctionne une fois. Appuyer sur le bouton l’utilise.',
  'You are about to sign in as {1}, {2}.': 'Vous allez vous connecter comme {1}, {2}.',
  'Open the link in the other browser': 'Ouvrez le lien dans l’autre navigateur',
  'This link belongs to the browser in which it was asked for. It still works there.':
    'Ce lien appartient au navigateur dans lequel il a été demandé. Il y fonctionne toujours.',
  'Copy the link into that browser, or ask for a link here.':
    'Copiez le lien dans ce navigateur, ou demandez un lien ici.',
  'This link was used': 'Ce lien a été utilisé',
  'Every link works once. If it was not you who used it, sign in and look at your account: it lists where you are signed in.':
    'Chaque lien fonctionne une fois. Si ce n’est pas vous qui l’avez utilisé, connectez-vous et regardez votre compte\u00a0: il montre où vous êtes connecté.',
  'Ask for another link to sign in again.': 'Demandez un autre lien pour vous reconnecter.',
  'Links work for {1} minutes.': 'Les liens fonctionnent pendant {1} minutes.',
  'Ask for another link. If the address is right, it comes within a minute.':
    'Demandez un autre lien. Si l’adresse est juste, il arrive en moins d’une minute.',
  'Ask for a link': 'Demander un lien',
  'Links for this address were asked for several times, so the next e-mail follows within {1} minutes. Its link works in this browser.':
    'Des liens ont été demandés plusieurs fois pour cette adresse\u00a0: le prochain courriel suit en moins de {1} minutes. Son lien fonctionne dans ce navigateur.',
  'That took longer than five minutes, or was sent twice. Use the passkey again.':
    'Cela a pris plus de cinq minutes, ou a été envoyé deux fois. Utilisez à nouveau la clé d’accès.',
  'Herald does not know this passkey. Ask for a link, then add the passkey to your account.':
    'Herald ne connaît pas cette clé d’accès. Demandez un lien, puis ajoutez la clé à votre compte.',
  'The passkey could not be checked. Use it again, or ask for a link.':
    'La clé d’accès n’a pas pu être vérifiée. Utilisez-la à nouveau, ou demandez un lien.',
  'This passkey is in use already, or there are too many. Remove one first.':
    'Cette clé d’accès est déjà utilisée, ou il y en a trop. Retirez-en une d’abord.',
  'Passkeys are switched off here. Use single sign-on.':
    'Les clés d’accès sont désactivées ici. Utilisez l’authentification unique.',
  'You are signed out.': 'Vous êtes déconnecté.',
  'Links are switched off here. Use single sign-on.':
    'Les liens sont désactivés ici. Utilisez l’authentification unique.',
  'Enter your whole e-mail address, like name@example.org.':
    'Saisissez votre adresse courriel en entier, comme nom@example.org.',
  'E-mails and text messages of your organisation.': 'Les courriels et les SMS de votre organisation.',
  'The link works once and for {1} minutes. Herald has no passwords.':
    'Le lien fonctionne une fois et pendant {1} minutes. Herald n’a pas de mots de passe.',
  'Continue with single sign-on': 'Continuer avec l’authentification unique',
  'Check your e-mail': 'Regardez vos courriels',
  'If the address belongs to somebody in a team, a link is on its way. It works once and for {1} minutes.':
    'Si l’adresse appartient à un membre d’une équipe, un lien est en route. Il fonctionne une fois et pendant {1} minutes.',
  'Open it in this browser. Nothing there after two minutes? Look in your spam folder, then {1}.':
    'Ouvrez-le dans ce navigateur. Toujours rien après deux minutes\u00a0? Regardez dans vos courriers indésirables, puis {1}.',
  'ask for another link': 'demandez un autre lien',
  'This installation sends no e-mails: it captures them. The link is in its inbox, which {1} opens.':
    'Cette installation n’envoie pas de courriels\u00a0: elle les capture. Le lien est dans sa boîte de capture, que {1} ouvre.',
  'Single sign-on does not answer': 'L’authentification unique ne répond pas',
  'The sign-in service of your organisation could not be reached, or answered with something else.':
    'Le service de connexion de votre organisation est injoignable, ou a répondu autre chose.',
  'Try again in a minute. If it stays like this, tell the people who run it.':
    'Réessayez dans une minute. Si cela persiste, prévenez les personnes qui s’en occupent.',
  'Single sign-on refused': 'L’authentification unique a refusé',
  'The sign-in service of your organisation did not let you through.':
    'Le service de connexion de votre organisation ne vous a pas laissé passer.',
  'Try again. If you think you should have access, ask the people who run it.':
    'Réessayez. Si vous pensez avoir droit à l’accès, demandez aux personnes qui s’en occupent.',
  'Single sign-on failed': 'L’authentification unique a échoué',
  'The answer of the sign-in service does not belong to this sign-in. Nobody was signed in.':
    'La réponse du service de connexion n’appartient pas à cette connexion. Personne n’a été connecté.',
  'Start again from here, not from an old tab or a bookmark.':
    'Recommencez d’ici, pas depuis un ancien onglet ou un favori.',
  'Start again': 'Recommencer',
  'This sign-in was ended already, began in another browser, or took longer than five minutes.':
    'Cette connexion était déjà terminée, a commencé dans un autre navigateur, ou a pris plus de cinq minutes.',
  'Start again from here.': 'Recommencez d’ici.',
  'Your address is not confirmed': 'Votre adresse n’est pas confirmée',
  'The sign-in service did not say that your e-mail address is yours, so Herald cannot tell who you are.':
    'Le service de connexion n’a pas dit que l’adresse courriel est la vôtre, donc Herald ne peut pas savoir qui vous êtes.',
  'Ask the people who run the sign-in service to confirm your address.':
    'Demandez aux personnes qui gèrent le service de connexion de confirmer votre adresse.',
  'You are in no team yet': 'Vous n’êtes encore dans aucune équipe',
  'You signed in, but nobody has added you to a service, and none of your groups has a role here.':
    'Vous vous êtes connecté, mais personne ne vous a ajouté à un service, et aucun de vos groupes n’a de rôle ici.',
  'Connect your account first': 'Reliez d’abord votre compte',
  'There is already an account with your address, and it is not connected to single sign-on.':
    'Un compte avec votre adresse existe déjà, et il n’est pas relié à l’authentification unique.',
  'Sign in with a link, then connect single sign-on under My account. If no link comes, ask an operator for one.':
    'Connectez-vous avec un lien, puis reliez l’authentification unique dans Mon compte. Si aucun lien n’arrive, demandez-en un à un opérateur.',
  'Links are turned off here. Ask an operator for a sign-in link, then connect single sign-on under My account.':
    'Les liens sont désactivés ici. Demandez un lien de connexion à un opérateur, puis reliez l’authentification unique dans Mon compte.',
  'Sign in with a link': 'Se connecter avec un lien',
  'That was somebody else': 'C’était quelqu’un d’autre',
  'You confirmed with another account than the one that is signed in here.':
    'Vous avez confirmé avec un autre compte que celui qui est connecté ici.',
  'Confirm with your own account, or sign out first.':
    'Confirmez avec votre propre compte, ou déconnectez-vous d’abord.',
  'Back to signing in': 'Retour à la connexion',
  'This installation captures e-mails instead of sending them, and the captured inbox asks for this confirmation too. Run this command on the machine that runs Herald. It prints a link.':
    'Cette installation capture les courriels au lieu de les envoyer, et la boîte de capture demande elle aussi cette confirmation. Exécutez cette commande sur la machine où fonctionne Herald. Elle affiche un lien.',
  'Open the link in this browser, then {1}.': 'Ouvrez le lien dans ce navigateur, puis {1}.',
  'continue to the page you wanted': 'continuez vers la page que vous vouliez',
}
