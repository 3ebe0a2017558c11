/** What one recipient gets: the content of a campaign with their own values. No database. */

import type { StoreFacts } from '#db/access'
import type { sending } from '#operations/messaging/door'
import { templates } from '#operations/messaging/door'
import { renderLoosely, renderParameter, renderText, type Values } from '#runtime/values/variables'
import { textAtMost, textWithMediaAtMost } from '../content.ts'
import type { CampaignContent } from '../schema.ts'

export interface Recipient {
  phone: string
  name: string | null
  email: string | null
  custom_fields: Record<string, string>
}

export type Connection = sending.Connection
export type Template = templates.Template

/** A shared number puts the text into a template of its own, which takes less. */
const sharedTextAtMost = 900

/** The variables of a text: what is known of every contact, then their custom fields. */
export function valuesOf(recipient: Recipient, store: StoreFacts): Values {
  const { name, phone, email, custom_fields: fields } = recipient
  return {
    ...fields,
    name,
    customerName: name,
    firstName: name?.trim().split(/\s+/)[0] ?? null,
    phone,
    email,
    storeName: store.name,
    storeUrl: `https://${store.domain}`,
  }
}

export interface Rendered {
  content: sending.Content
  /** As the recipient reads it. */
  text: string
  missing: string[]
  /** Why it cannot be sent. */
  skip: 'missing-variable' | 'too-long' | null
}

/** Renders the content; `template` is the one it names. */
export function renderMessage(
  content: CampaignContent,
  template: Template | null,
  connection: Connection | null,
  values: Values,
): Rendered {
  return content.type === 'text'
    ? renderedText(content, connection, values)
    : renderedTemplate(content, template!, values)
}

function renderedText(content: CampaignContent, connection: Connection | null, values: Values): Rendered {
  const { text, missing } = renderText(content.text ?? '', values)
  // Once it was saved without a look at its variables.
  const whole = content.optOutText === null ? text : `${text}\n\n${renderLoosely(content.optOutText, values)}`
  const own = content.media ? textWithMediaAtMost : textAtMost
  const atMost = connection?.type === 'shared' ? Math.min(own, sharedTextAtMost) : own
  return {
    content: { kind: 'text', text: whole, media: content.media },
    text: whole,
    missing,
    // Nothing but variables, and none has a value: there is nothing to send.
    skip: text.trim() === '' ? 'missing-variable' : whole.length > atMost ? 'too-long' : null,
  }
}

function renderedTemplate(content: CampaignContent, template: Template, values: Values): Rendered {
  const missing = new Set<string>()
  let isEmpty = false
  const filled = (texts: readonly string[]): string[] =>
    texts.map((each) => {
      const parameter = renderParameter(each, values)
      for (const name of parameter.missing) missing.add(name)
      if (parameter.text === '') isEmpty = true
      return parameter.text
    })
  const { header, body, buttons } = content.templateParameters
  const parameters = { header: filled(header), body: filled(body), buttons: filled(buttons) }
  const text = templates.render(template, parameters).body
  return {
    content: { kind: 'template', templateId: template.id, parameters, media: mediaFor(content, template) },
    text,
    missing: [...missing],
    skip: isEmpty ? 'missing-variable' : text.length > textAtMost ? 'too-long' : null,
  }
}

export const takesMedia = (template: Template): boolean =>
  template.header !== null && ['image', 'video', 'document'].includes(template.header.type)

/** The media of the header, where the template has one. */
export const mediaFor = (content: CampaignContent, template: Template): CampaignContent['media'] =>
  takesMedia(template) ? content.media : null
