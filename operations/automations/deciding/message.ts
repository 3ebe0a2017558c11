/** Chooses between text and template, and renders the message (rule 2). No database, no clock. */

import type { sending } from '#operations/messaging/index'
import { templates } from '#operations/messaging/index'
import { countCharacters } from '#runtime/values/truncate'
import { parseVariables, renderParameter, renderText, type Values } from '#runtime/values/variables'
import type { ReasonCode } from '../reasons.ts'
import type { AutomationMessage } from '../types.ts'

type Template = templates.Template
type ConnectionType = sending.Connection['type']

const maxTextLength = 4096
const maxTextLengthWithMedia = 1024

export type Choice =
  | { kind: 'text' }
  | { kind: 'template'; template: Template }
  | { kind: 'held' }
  | { kind: 'failed'; code: ReasonCode; reason: string }

/** Chooses what to send through a connection. `template` is the message's template, null if it no longer exists. */
export function chooseMessage(
  message: AutomationMessage,
  connection: ConnectionType,
  template: Template | null,
  isWindowOpen: boolean,
): Choice {
  const hasText = message.text !== null && message.text.trim() !== ''
  if (connection !== 'official') {
    return hasText
      ? { kind: 'text' }
      : failed('no-text', 'The message has a template only: write a text for this kind of number')
  }
  if (template?.status === 'approved') return { kind: 'template', template }
  if (hasText && isWindowOpen) return { kind: 'text' }
  if (template) return { kind: 'held' }
  if (hasText) {
    const reason = 'The customer has not written in the last 24 hours: choose an approved template'
    return failed('window-closed', reason)
  }
  return failed('template-refused', 'The template of the message is no longer there: choose another one')
}

/** Whether the template or text that is sent uses one of these variables. */
export const usesVariables = (
  { text, templateParameters: { header, body, buttons } }: AutomationMessage,
  isTemplate: boolean,
  names: readonly string[],
): boolean =>
  (isTemplate ? [...header, ...body, ...buttons] : [text ?? '']).some((each) =>
    textUsesVariables(each, names),
  )

function textUsesVariables(text: string, names: readonly string[]): boolean {
  const parsed = parseVariables(text)
  if ('issue' in parsed) return false
  return parsed.parts.some((part) => typeof part !== 'string' && names.includes(part.name))
}

export type Rendered =
  | { kind: 'ready'; content: sending.Content; text: string; templateId: number | null }
  | { kind: 'failed'; code: ReasonCode; reason: string }

export function renderMessage(
  message: AutomationMessage,
  template: Template | null,
  connection: ConnectionType,
  values: Values,
): Rendered {
  return template ? renderTemplate(message, template, values) : renderAsText(message, connection, values)
}

function renderAsText(message: AutomationMessage, connection: ConnectionType, values: Values): Rendered {
  const { text, missing } = renderText(message.text ?? '', values)
  if (text.trim() === '') return failMissingVariable(missing)
  const media = getMedia(message)
  if (countCharacters(text) > (media ? maxTextLengthWithMedia : maxTextLength)) {
    return failed('too-long', `The text has ${text.length} characters with its values filled in`)
  }
  if (connection === 'shared' && countCharacters(text) > 900) {
    return failed('too-long', 'The shared number sends at most 900 characters')
  }
  return { kind: 'ready', content: { kind: 'text', text, media }, text, templateId: null }
}

function renderTemplate(message: AutomationMessage, template: Template, values: Values): Rendered {
  const empty: string[] = []
  const filled = (texts: readonly string[]): string[] =>
    texts.map((each) => {
      const parameter = renderParameter(each, values)
      if (parameter.text === '') empty.push(...parameter.missing)
      return parameter.text
    })
  const { header, body, buttons } = message.templateParameters
  const parameters = { header: filled(header), body: filled(body), buttons: filled(buttons) }
  const issue = templates.describeMiscount(template, parameters)
  if (issue) return failed('template-refused', `templateParameters.${issue.part}: ${issue.fault}`)
  if (Object.values(parameters).some((texts) => texts.includes(''))) return failMissingVariable(empty)
  const text = templates.render(template, parameters).body
  const type = template.header?.type
  const media = getMedia(message)
  const content = {
    kind: 'template' as const,
    templateId: template.id,
    parameters,
    media: media && media.type === type ? media : null,
  }
  return { kind: 'ready', content, text, templateId: template.id }
}

const getMedia = ({ mediaUrl, mediaType }: AutomationMessage) =>
  mediaUrl !== null && mediaType !== null ? { type: mediaType, url: mediaUrl, fileName: null } : null

const failMissingVariable = (names: readonly string[]) =>
  failed(
    'missing-variable',
    names.length === 0
      ? 'A parameter of the template is empty: give it a fallback'
      : `There is no value for ${[...new Set(names)].map((name) => `{{${name}}}`).join(', ')}: give it a fallback`,
  )

const failed = (code: ReasonCode, reason: string) => ({ kind: 'failed' as const, code, reason })
