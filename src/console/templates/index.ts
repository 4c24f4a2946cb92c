// Handlers of the pages of templates; the editor has its own (editor/).
export { showApi } from './api.tsx'
export { archiveTemplate, confirmArchive } from './archive.tsx'
export { createTemplate, newTemplate } from './create.tsx'
export { createFolder, newFolder, removeFolder, saveFolder, showFolder } from './folder.tsx'
export { listTemplates } from './list.tsx'
export { saveSettings, showSettings } from './settings.tsx'
export { restoreVersion, showVersion, showVersions } from './versions.tsx'
