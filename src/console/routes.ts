// Table of contents of the console: every page, and who may open it (who.ts: anyone, signedIn, operator, may(permission), fresh(…)).
import { LIMITS } from '../sheets/sheet.ts'
import { accountPage, endAllOthers, endOneSession, saveAccount } from './account/account.tsx'
import { askForNewAddress, changeToNewAddress, newAddressPage } from './account/address.tsx'
import {
  addNewPasskey,
  newPasskeyOptions,
  newPasskeyPage,
  removeOnePasskey,
  renameOnePasskey,
} from './account/passkeys.tsx'
import { changesPage, exportChanges } from './changes/changes.tsx'
import {
  confirmTemplate,
  liveTemplate,
  previewTemplate,
  saveTemplate,
  showConfirm,
  showRendered,
  showTemplate,
  testTemplate,
} from './editor/handlers.tsx'
import { capturedPage, deleteCaptured, emptyTheInbox, inboxPage, newerInInbox, searchInbox } from './inbox/inbox.tsx'
import { capturedFile, capturedFrame, capturedSource } from './inbox/parts.ts'
import { againPage, cancelJob, jobPage, originalFile, reportFile, sendJobAgain } from './jobs/job.tsx'
import { jobsPage } from './jobs/list.tsx'
import { jobEvents } from './jobs/progress.tsx'
import { createKey, newKey } from './keys/create.tsx'
import { keysPage } from './keys/list.tsx'
import { revokeKey, revokeQuestion } from './keys/revoke.tsx'
import { safelistPage, saveSafelist } from './keys/safelist.tsx'
import { exportPage, newerMessages } from './messages/export.ts'
import { messagesPage } from './messages/list.tsx'
import { cancelMessage, copyMessage, messagePage, renderedPage } from './messages/message.tsx'
import { searchMessages } from './messages/search.ts'
import { auditPage, exportAudit } from './operator/audit.tsx'
import { holdAll, holdQuestion, releaseEverything, releaseQuestion } from './operator/hold.tsx'
import { sendTest, testForm, testPage } from './operator/provider-test.tsx'
import { systemPage } from './operator/system.tsx'
import { countsFile } from './overview/counts.tsx'
import { overviewCounts, overviewPage } from './overview/index.tsx'
import {
  changeOperator,
  inviteOperator,
  inviteOperatorForm,
  operatorInvitationWithdrawn,
  peoplePage,
  personPage,
  removeAltogether,
} from './people/people.tsx'
import { requestsPage } from './requests/list.tsx'
import { followFile, receiveFile, showFile } from './send/file.tsx'
import { liveMessage, sendOne, showSend } from './send/one.tsx'
import { renderedPreview } from './send/preview.tsx'
import { renderedRow } from './send/row.tsx'
import { changeUpload, downloadBadRows, showUpload } from './send/upload.tsx'
import { exampleFile } from './send/upload-page.tsx'
import { addService, allServices, newService } from './services/all.tsx'
import { myServices } from './services/mine.tsx'
import { changeForm, saveChanges } from './settings/change.tsx'
import { limitsForm, resumeService, saveLimits, suspendForm, suspendService } from './settings/limits.tsx'
import * as live from './settings/live.tsx'
import * as origins from './settings/origins.tsx'
import { replyToConfirmed, replyToPage } from './settings/reply-to-link.tsx'
import { settingsPage } from './settings/settings.tsx'
import { confirmByLink, confirmByPasskey, confirmOptions, confirmPage } from './sign-in/confirm.tsx'
import { linkPage, spendLinkPage } from './sign-in/link.tsx'
import { passkeyAnswer, passkeyOptions } from './sign-in/passkey.ts'
import { askForLinkPage, sentPage, signInPage, signOut } from './sign-in/sign-in.tsx'
import { fromProvider, toProvider, toProviderAgain } from './sign-in/single-sign-on.tsx'
import { invitationAccepted, invitationPage } from './team/accept.tsx'
import { invitationAgain, invitationWithdrawn, inviteForm, sendInvitation } from './team/invite.tsx'
import { join, memberPage, removeFromTeam, saveRole } from './team/member.tsx'
import { teamPage } from './team/team.tsx'
import * as templates from './templates/index.ts'
import {
  removeQuestion,
  removeWebhook,
  replaceSecret,
  replayEvents,
  switchWebhook,
  testWebhook,
} from './webhooks/acts.tsx'
import { webhookPage } from './webhooks/detail.tsx'
import { createWebhook, newWebhook, saveWebhook, webhookSettings } from './webhooks/form.tsx'
import { webhooksPage } from './webhooks/list.tsx'
import { anyone, fresh, may, operator, type PageRow, signedIn, withFile } from './who.ts'

export const pages: readonly PageRow[] = [
  ['GET', '/sign-in', anyone, signInPage],
  ['POST', '/sign-in', anyone, askForLinkPage],
  ['GET', '/sign-in/sent', anyone, sentPage],
  ['GET', '/sign-in/link/:token', anyone, linkPage],
  ['POST', '/sign-in/link/:token', anyone, spendLinkPage],
  ['POST', '/sign-in/passkey/options', anyone, passkeyOptions],
  ['POST', '/sign-in/passkey', anyone, passkeyAnswer],
  ['GET', '/sign-in/single-sign-on', anyone, toProvider],
  ['GET', '/sign-in/single-sign-on/return', anyone, fromProvider],
  ['GET', '/sign-in/confirm', signedIn, confirmPage],
  ['POST', '/sign-in/confirm', signedIn, confirmByLink],
  ['POST', '/sign-in/confirm/passkey/options', signedIn, confirmOptions],
  ['POST', '/sign-in/confirm/passkey', signedIn, confirmByPasskey],
  ['GET', '/sign-in/confirm/single-sign-on', signedIn, toProviderAgain],
  ['POST', '/sign-out', signedIn, signOut],

  ['GET', '/account', signedIn, accountPage],
  ['POST', '/account', signedIn, saveAccount],
  ['GET', '/account/passkeys/new', fresh(signedIn), newPasskeyPage],
  ['POST', '/account/passkeys/new/options', fresh(signedIn), newPasskeyOptions],
  ['POST', '/account/passkeys/new', fresh(signedIn), addNewPasskey],
  ['POST', '/account/passkeys/:id', signedIn, renameOnePasskey],
  ['POST', '/account/passkeys/:id/remove', fresh(signedIn), removeOnePasskey],
  ['POST', '/account/sessions/end-others', signedIn, endAllOthers],
  ['POST', '/account/sessions/:id/end', signedIn, endOneSession],
  ['POST', '/account/address', fresh(signedIn), askForNewAddress],
  ['GET', '/account/address', fresh(signedIn), newAddressPage],
  ['POST', '/account/address/change', fresh(signedIn), changeToNewAddress],

  ['GET', '/', signedIn, myServices],
  ['GET', '/operator/services', operator, allServices],
  ['GET', '/operator/services/new', operator, newService],
  ['POST', '/operator/services/new', fresh(operator), addService],
  ['GET', '/operator/people', operator, peoplePage],
  ['GET', '/operator/people/invite', operator, inviteOperatorForm],
  ['POST', '/operator/people/invite', fresh(operator), inviteOperator],
  ['POST', '/operator/people/invitations/:id/withdraw', fresh(operator), operatorInvitationWithdrawn],
  ['GET', '/operator/people/:id', operator, personPage],
  ['POST', '/operator/people/:id', fresh(operator), changeOperator],
  ['POST', '/operator/people/:id/remove', fresh(operator), removeAltogether],
  ['GET', '/invitation/:token', anyone, invitationPage],
  ['POST', '/invitation/:token', anyone, invitationAccepted],

  ['GET', '/s/:service', may('see-service'), overviewPage],
  ['GET', '/s/:service/counts', may('see-service'), overviewCounts],
  ['GET', '/s/:service/statistics', may('see-service'), countsFile],

  ['GET', '/s/:service/templates/:id', may('see-messages'), showTemplate],
  ['POST', '/s/:service/templates/:id', may('manage-templates'), saveTemplate],
  ['POST', '/s/:service/templates/:id/preview', may('manage-templates'), previewTemplate],
  ['POST', '/s/:service/templates/:id/live', may('manage-templates'), liveTemplate],
  ['GET', '/s/:service/templates/:id/rendered', may('see-messages'), showRendered],
  ['GET', '/s/:service/templates/:id/confirm', may('manage-templates'), showConfirm],
  ['POST', '/s/:service/templates/:id/confirm', may('manage-templates'), confirmTemplate],
  // Authors may, and senders; the verb decides.
  ['POST', '/s/:service/templates/:id/test', may('see-messages'), testTemplate],
  ['GET', '/s/:service/messages', may('see-messages'), messagesPage],
  ['POST', '/s/:service/messages/search', may('see-messages'), searchMessages],
  ['GET', '/s/:service/messages/export', may('see-messages'), exportPage],
  ['GET', '/s/:service/messages/newer', may('see-messages'), newerMessages],
  ['GET', '/s/:service/messages/:id', may('see-messages'), messagePage],
  ['GET', '/s/:service/messages/:id/rendered', may('see-messages'), renderedPage],
  ['POST', '/s/:service/messages/:id/cancel', may('cancel-messages'), cancelMessage],
  ['POST', '/s/:service/messages/:id/copy', may('send-messages'), copyMessage],

  ['GET', '/s/:service/team', may('see-service'), teamPage],
  ['GET', '/s/:service/team/invite', may('manage-people'), inviteForm],
  ['POST', '/s/:service/team/invite', fresh(may('manage-people')), sendInvitation],
  ['POST', '/s/:service/team/invitations/:id/again', fresh(may('manage-people')), invitationAgain],
  ['POST', '/s/:service/team/invitations/:id/withdraw', fresh(may('manage-people')), invitationWithdrawn],
  ['GET', '/s/:service/team/:member', may('manage-people'), memberPage],
  ['POST', '/s/:service/team/:member', fresh(may('manage-people')), saveRole],
  ['POST', '/s/:service/team/:member/remove', fresh(may('manage-people')), removeFromTeam],
  ['POST', '/s/:service/join', fresh(may('manage-installation')), join],
  ['GET', '/s/:service/templates', may('see-messages'), templates.listTemplates],
  ['GET', '/s/:service/templates/new', may('manage-templates'), templates.newTemplate],
  ['POST', '/s/:service/templates/new', may('manage-templates'), templates.createTemplate],
  ['GET', '/s/:service/templates/folders/new', may('manage-templates'), templates.newFolder],
  ['POST', '/s/:service/templates/folders/new', may('manage-templates'), templates.createFolder],
  ['GET', '/s/:service/templates/folders/:folder', may('manage-templates'), templates.showFolder],
  ['POST', '/s/:service/templates/folders/:folder', may('manage-templates'), templates.saveFolder],
  ['POST', '/s/:service/templates/folders/:folder/remove', may('manage-templates'), templates.removeFolder],
  ['GET', '/s/:service/templates/:id/versions', may('see-messages'), templates.showVersions],
  ['GET', '/s/:service/templates/:id/versions/:version', may('see-messages'), templates.showVersion],
  ['POST', '/s/:service/templates/:id/versions/:version', may('manage-templates'), templates.restoreVersion],
  ['GET', '/s/:service/templates/:id/settings', may('see-messages'), templates.showSettings],
  ['POST', '/s/:service/templates/:id/settings', may('manage-templates'), templates.saveSettings],
  ['GET', '/s/:service/templates/:id/archive', may('manage-templates'), templates.confirmArchive],
  ['POST', '/s/:service/templates/:id/archive', may('manage-templates'), templates.archiveTemplate],
  ['GET', '/s/:service/templates/:id/api', may('see-messages'), templates.showApi],

  // Send.
  ['GET', '/s/:service/send', may('send-messages'), showSend],
  ['POST', '/s/:service/send', may('send-messages'), sendOne],
  ['POST', '/s/:service/send/live', may('send-messages'), liveMessage],
  ['GET', '/s/:service/send/:template/rendered', may('send-messages'), renderedPreview],
  ['GET', '/s/:service/send/:template/example', may('send-messages'), exampleFile],
  ['GET', '/s/:service/send/file', may('send-messages'), showFile],
  ['POST', '/s/:service/send/file', may('send-messages'), receiveFile, withFile(LIMITS.bytes, ['rows'])],
  ['GET', '/s/:service/send/file/:upload', may('send-messages'), showUpload],
  ['POST', '/s/:service/send/file/:upload', may('send-messages'), changeUpload],
  ['GET', '/s/:service/send/file/:upload/events', may('send-messages'), followFile],
  ['GET', '/s/:service/send/file/:upload/rendered', may('send-messages'), renderedRow],
  ['GET', '/s/:service/send/file/:upload/bad-rows', may('send-messages'), downloadBadRows],

  // Jobs.
  ['GET', '/s/:service/jobs', may('see-messages'), jobsPage],
  ['GET', '/s/:service/jobs/:id', may('see-messages'), jobPage],
  ['GET', '/s/:service/jobs/:id/events', may('see-messages'), jobEvents],
  ['GET', '/s/:service/jobs/:id/report', may('see-messages'), reportFile],
  ['GET', '/s/:service/jobs/:id/file', may('export-recipients'), originalFile],
  ['POST', '/s/:service/jobs/:id/cancel', may('cancel-messages'), cancelJob],
  ['GET', '/s/:service/jobs/:id/again', may('send-messages'), againPage],
  ['POST', '/s/:service/jobs/:id/again', may('send-messages'), sendJobAgain],

  // Keys, safelist and request log.
  ['GET', '/s/:service/keys', may('manage-keys'), keysPage],
  ['GET', '/s/:service/keys/new', may('manage-keys'), newKey],
  ['POST', '/s/:service/keys/new', fresh(may('manage-keys')), createKey],
  ['GET', '/s/:service/keys/:id/revoke', may('manage-keys'), revokeQuestion],
  ['POST', '/s/:service/keys/:id/revoke', fresh(may('manage-keys')), revokeKey],
  ['GET', '/s/:service/safelist', may('manage-keys'), safelistPage],
  ['POST', '/s/:service/safelist', may('manage-keys'), saveSafelist],
  ['GET', '/s/:service/requests', may('manage-keys'), requestsPage],

  // Webhooks.
  ['GET', '/s/:service/webhooks', may('manage-webhooks'), webhooksPage],
  ['GET', '/s/:service/webhooks/new', may('manage-webhooks'), newWebhook],
  ['POST', '/s/:service/webhooks/new', fresh(may('manage-webhooks')), createWebhook],
  ['GET', '/s/:service/webhooks/:id', may('manage-webhooks'), webhookPage],
  ['GET', '/s/:service/webhooks/:id/settings', may('manage-webhooks'), webhookSettings],
  ['POST', '/s/:service/webhooks/:id/settings', fresh(may('manage-webhooks')), saveWebhook],
  ['POST', '/s/:service/webhooks/:id/test', may('manage-webhooks'), testWebhook],
  ['POST', '/s/:service/webhooks/:id/state', may('manage-webhooks'), switchWebhook],
  ['POST', '/s/:service/webhooks/:id/secret', fresh(may('manage-webhooks')), replaceSecret],
  ['POST', '/s/:service/webhooks/:id/replay', may('manage-webhooks'), replayEvents],
  ['GET', '/s/:service/webhooks/:id/remove', may('manage-webhooks'), removeQuestion],
  ['POST', '/s/:service/webhooks/:id/remove', may('manage-webhooks'), removeWebhook],

  // Inbox.
  ['GET', '/s/:service/inbox', may('see-inbox'), inboxPage],
  ['POST', '/s/:service/inbox/search', may('see-inbox'), searchInbox],
  ['GET', '/s/:service/inbox/newer', may('see-inbox'), newerInInbox],
  ['POST', '/s/:service/inbox/empty', may('see-inbox'), emptyTheInbox],
  ['GET', '/s/:service/inbox/:id', may('see-inbox'), capturedPage],
  ['GET', '/s/:service/inbox/:id/rendered', may('see-inbox'), capturedFrame],
  ['GET', '/s/:service/inbox/:id/source', may('see-inbox'), capturedSource],
  ['GET', '/s/:service/inbox/:id/files/:place', may('see-inbox'), capturedFile],
  ['POST', '/s/:service/inbox/:id/delete', may('see-inbox'), deleteCaptured],
  ['GET', '/operator/inbox', operator, inboxPage],
  ['POST', '/operator/inbox/search', operator, searchInbox],
  ['GET', '/operator/inbox/newer', operator, newerInInbox],
  ['POST', '/operator/inbox/empty', operator, emptyTheInbox],
  // Mails of Herald itself sign people in.
  ['GET', '/operator/inbox/:id', fresh(operator), capturedPage],
  ['GET', '/operator/inbox/:id/rendered', fresh(operator), capturedFrame],
  ['GET', '/operator/inbox/:id/source', fresh(operator), capturedSource],
  ['POST', '/operator/inbox/:id/delete', operator, deleteCaptured],

  // Settings and changes.
  ['GET', '/s/:service/settings', may('see-service'), settingsPage],
  ['GET', '/s/:service/settings/change', may('manage-service'), changeForm],
  ['POST', '/s/:service/settings/change', fresh(may('manage-service')), saveChanges],
  ['GET', '/s/:service/settings/limits', may('manage-installation'), limitsForm],
  ['POST', '/s/:service/settings/limits', fresh(may('manage-installation')), saveLimits],
  ['GET', '/s/:service/settings/suspend', may('manage-installation'), suspendForm],
  ['POST', '/s/:service/settings/suspend', fresh(may('manage-installation')), suspendService],
  ['POST', '/s/:service/settings/resume', fresh(may('manage-installation')), resumeService],
  ['GET', '/s/:service/settings/reply-to/new', may('manage-service'), origins.newReplyTo],
  ['POST', '/s/:service/settings/reply-to/new', fresh(may('manage-service')), origins.saveReplyTo],
  ['POST', '/s/:service/settings/reply-to/:id/again', fresh(may('manage-service')), origins.replyToAgain],
  ['POST', '/s/:service/settings/reply-to/:id/default', fresh(may('manage-service')), origins.replyToDefault],
  ['GET', '/s/:service/settings/reply-to/:id/remove', may('manage-service'), origins.removeReplyTo],
  ['POST', '/s/:service/settings/reply-to/:id/remove', fresh(may('manage-service')), origins.replyToRemoved],
  ['GET', '/s/:service/settings/senders/new', may('manage-service'), origins.newSender],
  ['POST', '/s/:service/settings/senders/new', fresh(may('manage-service')), origins.saveSender],
  ['POST', '/s/:service/settings/senders/:id/default', fresh(may('manage-service')), origins.senderDefault],
  ['GET', '/s/:service/settings/senders/:id/remove', may('manage-service'), origins.removeSender],
  ['POST', '/s/:service/settings/senders/:id/remove', fresh(may('manage-service')), origins.senderRemoved],
  ['GET', '/s/:service/settings/live', may('see-service'), live.livePage],
  ['POST', '/s/:service/settings/live', fresh(may('manage-service')), live.askForLive],
  ['POST', '/s/:service/settings/live/grant', fresh(may('manage-installation')), live.grant],
  ['POST', '/s/:service/settings/live/decline', fresh(may('manage-installation')), live.decline],
  ['POST', '/s/:service/settings/live/end', fresh(may('manage-installation')), live.endLive],
  ['GET', '/reply-to/:token', anyone, replyToPage],
  ['POST', '/reply-to/:token', anyone, replyToConfirmed],
  ['GET', '/s/:service/changes', may('manage-service'), changesPage],
  ['GET', '/s/:service/changes/export', may('manage-service'), exportChanges],

  // Operator: system and audit.
  ['GET', '/operator/system', operator, systemPage],
  ['GET', '/operator/system/hold', operator, holdQuestion],
  ['POST', '/operator/system/hold', fresh(operator), holdAll],
  ['GET', '/operator/system/release', operator, releaseQuestion],
  ['POST', '/operator/system/release', fresh(operator), releaseEverything],
  ['GET', '/operator/system/providers/:channel/:provider/test', operator, testForm],
  ['POST', '/operator/system/providers/:channel/:provider/test', fresh(operator), sendTest],
  ['GET', '/operator/system/tests/:id', operator, testPage],
  ['GET', '/operator/audit', operator, auditPage],
  ['GET', '/operator/audit/export', operator, exportAudit],
]
