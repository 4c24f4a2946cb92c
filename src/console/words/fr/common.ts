/** The frame of every page, and components. */
export const common = {
  'Skip to content': 'Aller au contenu',
}
