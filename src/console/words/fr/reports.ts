export const reports = {
  'Counts of the last 13 months as CSV, with the parts of text messages:':
    'Nombres des 13 derniers mois en CSV, avec les parties des SMS\u00a0:',
  'by month': 'par mois',
  'by day': 'par jour',
  'by template': 'par modèle',
  'by API key': 'par clé API',
}
