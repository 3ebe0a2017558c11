/** Renders a campaign's content for one recipient. No database. */

import type { StoreFacts } from '#db/access'
import type { sending } from '#operations/messaging/index'
import { isPhone, templates } from '#operations/messaging/index'
import { getGivenName } from '#runtime/values/public-name'
import { countCharacters } from '#runtime/values/truncate'
import { renderLoosely, renderParameter, renderText, type Values } from '#runtime/values/variables'
import { maxTextLength, maxTextLengthWithMedia } from '../content.ts'
import type { CampaignContent } from '../schema.ts'

export interface Recipient {
  phone: string
  name: string | null
  email: string | null
  custom_fields: Record<string, string>
}

export type Connection = sending.Connection
export type Template = templates.Template

/** Maximum number of characters through a shared number, whose own template surrounds the text. */
const maxSharedTextLength = 900

/** Builds the values of a text's variables: the built-in variables and the contact's custom fields. */
export function buildValues(recipient: Recipient, store: StoreFacts): Values {
  const { name, phone, email, custom_fields: fields } = recipient
  return {
    ...fields,
    name,
    customerName: name,
    firstName: getGivenName(name),
    phone: isPhone(phone) ? phone : null,
    email,
    storeName: store.name,
    storeUrl: `https://${store.domain}`,
  }
}

export interface Rendered {
  content: sending.Content
  /** The text that the recipient reads. */
  text: string
  missing: string[]
  /** Why the message cannot be sent; null if it can. */
  skip: 'missing-variable' | 'too-long' | null
}

/** Renders the content. `template` is the template that the content refers to. */
export function renderMessage(
  content: CampaignContent,
  template: Template | null,
  connection: Connection | null,
  values: Values,
): Rendered {
  return content.type === 'text'
    ? renderTextContent(content, connection, values)
    : renderTemplateContent(content, template!, values)
}

function renderTextContent(
  content: CampaignContent,
  connection: Connection | null,
  values: Values,
): Rendered {
  const { text, missing } = renderText(content.text ?? '', values)
  // Rendered leniently, because older opt-out texts were saved without a check of their variables.
  const whole = content.optOutText === null ? text : `${text}\n\n${renderLoosely(content.optOutText, values)}`
  const own = content.media ? maxTextLengthWithMedia : maxTextLength
  const atMost = connection?.type === 'shared' ? Math.min(own, maxSharedTextLength) : own
  return {
    content: { kind: 'text', text: whole, media: content.media },
    text: whole,
    missing,
    // A text that is empty here consists only of variables without a value.
    skip: text.trim() === '' ? 'missing-variable' : countCharacters(whole) > atMost ? 'too-long' : null,
  }
}

function renderTemplateContent(content: CampaignContent, template: Template, values: Values): Rendered {
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
    content: { kind: 'template', templateId: template.id, parameters, media: selectMedia(content, template) },
    text,
    missing: [...missing],
    skip: isEmpty ? 'missing-variable' : countCharacters(text) > maxTextLength ? 'too-long' : null,
  }
}

export const takesMedia = (template: Template): boolean =>
  template.header !== null && ['image', 'video', 'document'].includes(template.header.type)

/** The media of the template's header, or null if it has none. */
export const selectMedia = (content: CampaignContent, template: Template): CampaignContent['media'] =>
  takesMedia(template) ? content.media : null
