// What opens over the page without script: menus and dialogs are popovers.
import type { ComponentChildren } from 'preact'
import { t } from '../words/index.ts'
import { Icon, type IconName } from './basics.tsx'

/** A button that opens a menu of rare actions. */
export const Menu = (props: { id: string; label: string; icon?: IconName; children: ComponentChildren }) => (
  <>
    <button class="btn btn-icon" type="button" popovertarget={props.id}>
      <Icon name={props.icon ?? 'dots'} />
      <span class="vh">{props.label}</span>
    </button>
    <div class="menu menu-end" id={props.id} popover="auto">
      {props.children}
    </div>
  </>
)

/** A short form or a confirmation; a button with `popovertarget={id}` opens it. */
export const Dialog = (props: {
  id: string
  title: string
  children: ComponentChildren
  /** Buttons; the way back comes first. */
  foot?: ComponentChildren
}) => (
  <dialog class="dialog" id={props.id} popover="auto" aria-labelledby={`${props.id}-title`}>
    <div class="dialog-head">
      <h2 id={`${props.id}-title`}>{props.title}</h2>
      <button class="btn btn-quiet btn-icon" type="button" popovertarget={props.id} popovertargetaction="hide">
        <Icon name="cross" />
        <span class="vh">{t`Close`}</span>
      </button>
    </div>
    <div class="dialog-body">{props.children}</div>
    {props.foot && <div class="dialog-foot">{props.foot}</div>}
  </dialog>
)
