// The mails that people get from Herald itself, in the language of the reader. Each mail has one link, alone in its paragraph.
import type { Role } from '../audit/role.ts'
import type { Mail } from '../mails/mail.ts'
import type { Person } from './person.ts'

export type Language = Exclude<Person['language'], 'auto'>

/** `otherwise`: of the page on which the mail was asked for. */
export const languageOf = (person: Pick<Person, 'language'> | null, otherwise: Language = 'en'): Language =>
  person && person.language !== 'auto' ? person.language : otherwise

type Letter = { subject: string; text: readonly string[] }
type Letters<Values> = Readonly<Record<Language, (values: Values) => Letter>>

const writer =
  <Values>(letters: Letters<Values>) =>
  (to: string, language: Language, values: Values): Mail => {
    const { subject, text } = letters[language](values)
    return { to, subject, text: [...text, ''].join('\n\n') }
  }

/** `device` null: it answers several requests. */
export const signInLetter = writer<{ link: string; device: string | null; minutes: number }>({
  en: ({ link, device, minutes }) => ({
    subject: 'Sign in to Herald',
    text: [
      'Open this link in the browser in which you asked for it:',
      link,
      `It works once, for ${minutes} minutes. ${device === null ? 'Links for your address were asked for several times, and this mail answers all of these requests.' : `It was asked for with ${device}.`}`,
      'If you did not ask for it, ignore this mail: nobody can sign in without the link. Do not pass it on.',
    ],
  }),
  fr: ({ link, device, minutes }) => ({
    subject: 'Se connecter à Herald',
    text: [
      'Ouvrez ce lien dans le navigateur où vous l’avez demandé\u00a0:',
      link,
      `Il fonctionne une fois, pendant ${minutes} minutes. ${device === null ? 'Des liens ont été demandés plusieurs fois pour votre adresse, et ce courriel répond à toutes ces demandes.' : `Il a été demandé avec ${device.replace(' on ', ' sur ').replace('Unknown browser', 'un navigateur inconnu')}.`}`,
      'Si vous ne l’avez pas demandé, ignorez ce courriel\u00a0: personne ne peut se connecter sans le lien. Ne le transmettez pas.',
    ],
  }),
})

const ROLES_FR: Readonly<Record<Role, string>> = {
  viewer: 'lecteur',
  author: 'auteur',
  sender: 'expéditeur',
  developer: 'développeur',
  manager: 'gestionnaire',
}

/** `service` and `role` null: as an operator of the installation. */
export const invitationLetter = writer<{
  service: string | null
  role: Role | null
  by: string
  link: string
  days: number
}>({
  en: ({ service, role, by, link, days }) => ({
    subject: service === null ? 'Invitation to Herald' : `Invitation to ${service}`,
    text: [
      `${by} invites you to ${service === null ? 'manage this Herald as an operator' : `the service "${service}" as ${role}`}.`,
      'Open this link to accept:',
      link,
      `It works once, for ${days} days. If you do not know what this is about, ignore this mail.`,
    ],
  }),
  fr: ({ service, role, by, link, days }) => ({
    subject: service === null ? 'Invitation à Herald' : `Invitation à ${service}`,
    text: [
      `${by} vous invite à ${service === null ? 'gérer ce Herald comme opérateur' : `rejoindre le service «\u00a0${service}\u00a0» comme ${role && ROLES_FR[role]}`}.`,
      'Ouvrez ce lien pour accepter\u00a0:',
      link,
      `Il fonctionne une fois, pendant ${days} jours. Si vous ne savez pas de quoi il s’agit, ignorez ce courriel.`,
    ],
  }),
})

export const replyToLetter = writer<{ service: string; by: string | null; link: string; days: number }>({
  en: ({ service, by, link, days }) => ({
    subject: `Confirm this address for replies to ${service}`,
    text: [
      `${by ?? 'Somebody'} wants replies to e-mails of the service "${service}" to go to this address.`,
      'Open this link to confirm that this is right:',
      link,
      `It works for ${days} days. If you do not know what this is about, ignore this mail: nothing is sent with this address.`,
    ],
  }),
  fr: ({ service, by, link, days }) => ({
    subject: `Confirmez cette adresse pour les réponses à ${service}`,
    text: [
      `${by ?? 'Quelqu’un'} souhaite que les réponses aux courriels du service «\u00a0${service}\u00a0» arrivent à cette adresse.`,
      'Ouvrez ce lien pour confirmer\u00a0:',
      link,
      `Il fonctionne pendant ${days} jours. Si vous ne savez pas de quoi il s’agit, ignorez ce courriel\u00a0: rien n’est envoyé avec cette adresse.`,
    ],
  }),
})

export const addressLetter = writer<{ link: string; minutes: number }>({
  en: ({ link, minutes }) => ({
    subject: 'Your new address for Herald',
    text: [
      'Somebody who is signed in to Herald wants to use this address from now on. Open this link in the browser in which you are signed in:',
      link,
      `It works for ${minutes} minutes. If it was not you, ignore this mail: nothing changes.`,
    ],
  }),
  fr: ({ link, minutes }) => ({
    subject: 'Votre nouvelle adresse pour Herald',
    text: [
      'Une personne connectée à Herald souhaite utiliser cette adresse désormais. Ouvrez ce lien dans le navigateur où vous êtes connecté\u00a0:',
      link,
      `Il fonctionne pendant ${minutes} minutes. Si ce n’était pas vous, ignorez ce courriel\u00a0: rien ne change.`,
    ],
  }),
})

/** To the address that a person no longer has. */
export const addressChangedLetter = writer<{ to: string }>({
  en: ({ to }) => ({
    subject: 'Your address for Herald was changed',
    text: [
      `Your Herald account now has the address ${to}. Sign-in links no longer go to this address, and all other browsers are signed out.`,
      'If it was not you, tell an operator of your Herald immediately.',
    ],
  }),
  fr: ({ to }) => ({
    subject: 'Votre adresse pour Herald a été changée',
    text: [
      `Votre compte Herald a maintenant l’adresse ${to}. Les liens de connexion n’arrivent plus à cette adresse, et tous les autres navigateurs sont déconnectés.`,
      'Si ce n’était pas vous, prévenez immédiatement un opérateur de votre Herald.',
    ],
  }),
})
