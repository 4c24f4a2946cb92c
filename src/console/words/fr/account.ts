/** A person’s own account. */
export const account = {
  'Your account is saved.': 'Votre compte est enregistré.',
  'The passkey is added. From now on you can sign in with it.':
    'La clé d’accès est ajoutée. Vous pouvez désormais l’utiliser pour vous connecter.',
  'The passkey has its new name.': 'La clé d’accès a son nouveau nom.',
  'The passkey is removed here. Delete it on your device, too.':
    'La clé d’accès est retirée ici. Supprimez-la aussi sur votre appareil.',
  'That browser is signed out.': 'Ce navigateur est déconnecté.',
  'Every other browser is signed out.': 'Tous les autres navigateurs sont déconnectés.',
  'If nobody has the new address, a link is on its way to it. Open it in this browser.':
    'Si personne n’utilise la nouvelle adresse, un lien y est envoyé. Ouvrez-le dans ce navigateur.',
  'Your e-mail address is changed. From now on links go to the new one.':
    'Votre adresse courriel est modifiée. Les liens arrivent désormais à la nouvelle.',
  'Choose a time zone of the list.': 'Choisissez un fuseau horaire de la liste.',
  'Choose one of the three.': 'Choisissez l’une des trois options.',
  'Enter your name.': 'Saisissez votre nom.',
  'Choose a language of the list.': 'Choisissez une langue de la liste.',
  'Like my device': 'Comme mon appareil',
  Light: 'Clair',
  'You and your view': 'Vous et votre affichage',
  'Your team sees it beside what you do.': 'Votre équipe le voit à côté de ce que vous faites.',
  'Time zone': 'Fuseau horaire',
  Language: 'Langue',
  'Also decides how dates and numbers are written.': 'Décide aussi de l’écriture des dates et des nombres.',
  'Like my browser': 'Comme mon navigateur',
  'Single-letter keyboard shortcuts': 'Raccourcis clavier d’une seule lettre',
  'Turn off if you use speech input.': 'Désactivez-les si vous utilisez la saisie vocale.',
  Save: 'Enregistrer',
  'Passkey “{1}”': 'Clé d’accès «\u00a0{1}\u00a0»',
  'added {1}, last used {2}': 'ajoutée {1}, dernière utilisation {2}',
  'added {1}, not used yet': 'ajoutée {1}, pas encore utilisée',
  'always possible': 'toujours possible',
  'with your organisation': 'avec votre organisation',
  'not connected yet': 'pas encore reliée',
  Connect: 'Relier',
  'Signing in': 'Connexion',
  'Add a passkey': 'Ajouter une clé d’accès',
  'Ways to sign in': 'Moyens de connexion',
  Way: 'Moyen',
  Rename: 'Renommer',
  'passkey {1}': 'la clé d’accès {1}',
  'Rename the passkey': 'Renommer la clé d’accès',
  'Keep the name': 'Garder le nom',
  'Remove the passkey': 'Retirer la clé d’accès',
  'You can no longer sign in with “{1}”. A link by e-mail stays possible.':
    'Vous ne pourrez plus vous connecter avec «\u00a0{1}\u00a0». Un lien par courriel reste possible.',
  '{1} on {2}': '{1} sur {2}',
  'by e-mail link': 'par lien courriel',
  'by passkey': 'par clé d’accès',
  'by single sign-on': 'par authentification unique',
  'Where you are signed in': 'Où vous êtes connecté',
  'Sign out everywhere else': 'Se déconnecter partout ailleurs',
  Sessions: 'Sessions',
  Browser: 'Navigateur',
  'This browser': 'Ce navigateur',
  'signed in {1} {2}': 'connexion {1} {2}',
  'Last used': 'Dernière utilisation',
  'Your services': 'Vos services',
  'You belong to no service yet. A manager of a service can invite you.':
    'Vous n’appartenez encore à aucun service. Un gestionnaire d’un service peut vous inviter.',
  'You are an operator of this installation.': 'Vous êtes opérateur de cette installation.',
  'E-mail address': 'Adresse courriel',
  'New e-mail address': 'Nouvelle adresse courriel',
  'Now {1}. Herald sends a link to the new address; it changes when you open the link.':
    'Actuellement {1}. Herald envoie un lien à la nouvelle adresse\u00a0; elle change quand vous ouvrez le lien.',
  'Send the link': 'Envoyer le lien',
  'Enter the whole new address, like name@example.org.':
    'Saisissez la nouvelle adresse en entier, comme nom@example.org.',
  'Change your e-mail address': 'Changer votre adresse courriel',
  'From now on links go to {1} instead of {2}.': 'Les liens arriveront désormais à {1} au lieu de {2}.',
  'Change the address': 'Changer l’adresse',
  'Keep the old one': 'Garder l’ancienne',
  'All your other browsers are signed out, and the old address is told by e-mail.':
    'Tous vos autres navigateurs sont déconnectés, et l’ancienne adresse en est avertie par courriel.',
  'It was used, is older than an hour, was requested in another browser or account, or someone else has the address.':
    'Il a été utilisé, date de plus d’une heure, a été demandé dans un autre navigateur ou un autre compte, ou quelqu’un d’autre a cette adresse.',
  'Back to my account': 'Retour à mon compte',
  'Sign in with your fingerprint, face, device PIN or a security key, without waiting for an e-mail.':
    'Connectez-vous avec votre empreinte, votre visage, le code de l’appareil ou une clé de sécurité, sans attendre de courriel.',
  'This browser cannot make passkeys, or scripts are switched off. You can go on signing in with links.':
    'Ce navigateur ne peut pas créer de clés d’accès, ou les scripts sont désactivés. Vous pouvez continuer à vous connecter par lien.',
  'No passkey was made. The device may have one for this account already. Try again.':
    'Aucune clé d’accès n’a été créée. L’appareil en a peut-être déjà une pour ce compte. Réessayez.',
  'So that you recognise it in your account.': 'Pour la reconnaître dans votre compte.',
  'Browsers make passkeys for names only, not for numbers. Open Herald as {1} or under its public name, then add one.':
    'Les navigateurs créent des clés d’accès pour des noms seulement, pas pour des numéros. Ouvrez Herald sous {1} ou sous son nom public, puis ajoutez-en une.',
}
