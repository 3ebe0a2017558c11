/** Which message leaves, and how it reads (rule 2). No database, no clock. */
import type { sending } from '#operations/messaging/door'
import { templates } from '#operations/messaging/door'
import { parseVariables, renderParameter, renderText, type Values } from '#runtime/values/variables'
import type { ReasonCode } from '../reasons.ts'
import type { AutomationMessage } from '../types.ts'

type Template = templates.Template
type ConnectionType = sending.Connection['type']

const textAtMost = 4096
const textWithMediaAtMost = 1024

export type Choice =
  | { is: 'text' }
  | { is: 'template'; template: Template }
  | { is: 'held' }
  | { is: 'failed'; code: ReasonCode; reason: string }

/** What leaves through a connection. `template`: the one it names, null when there is none any more. */
export function chooseMessage(
  message: AutomationMessage,
  connection: ConnectionType,
  template: Template | null,
  isWindowOpen: boolean,
): Choice {
  const hasText = message.text !== null && message.text.trim() !== ''
  if (connection !== 'official') {
    return hasText
      ? { is: 'text' }
      : failed('no-text', 'The message has a template only: write a text for this kind of number')
  }
  if (template?.status === 'approved') return { is: 'template', template }
  if (hasText && isWindowOpen) return { is: 'text' }
  if (template) return { is: 'held' }
  if (hasText) {
    const reason = 'The customer has not written in the last 24 hours: choose an approved template'
    return failed('window-closed', reason)
  }
  return failed('template-refused', 'The template of the message is no longer there: choose another one')
}

/** Whether what leaves, its template or its text, has one of these variables. */
export const namesAny = (
  { text, templateParameters: { header, body, buttons } }: AutomationMessage,
  isTemplate: boolean,
  names: readonly string[],
): boolean =>
  (isTemplate ? [...header, ...body, ...buttons] : [text ?? '']).some((each) => hasOne(each, names))

function hasOne(text: string, names: readonly string[]): boolean {
  const parsed = parseVariables(text)
  if ('fault' in parsed) return false
  return parsed.parts.some((part) => typeof part !== 'string' && names.includes(part.name))
}

export type Rendered =
  | { is: 'ready'; content: sending.Content; text: string; templateId: number | null }
  | { is: 'failed'; code: ReasonCode; reason: string }

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
  if (text.trim() === '') return missingVariable(missing)
  const media = mediaOf(message)
  if (text.length > (media ? textWithMediaAtMost : textAtMost)) {
    return failed('too-long', `The text has ${text.length} characters with its values filled in`)
  }
  if (connection === 'shared' && text.length > 900) {
    return failed('too-long', 'The shared number sends at most 900 characters')
  }
  return { is: 'ready', content: { kind: 'text', text, media }, text, templateId: null }
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
  const wrong = templates.miscounted(template, parameters)
  if (wrong) return failed('template-refused', `templateParameters.${wrong.part}: ${wrong.fault}`)
  if (Object.values(parameters).some((texts) => texts.includes(''))) return missingVariable(empty)
  const text = templates.render(template, parameters).body
  const type = template.header?.type
  const media = mediaOf(message)
  const content = {
    kind: 'template' as const,
    templateId: template.id,
    parameters,
    media: media && media.type === type ? media : null,
  }
  return { is: 'ready', content, text, templateId: template.id }
}

const mediaOf = ({ mediaUrl, mediaType }: AutomationMessage) =>
  mediaUrl !== null && mediaType !== null ? { type: mediaType, url: mediaUrl, fileName: null } : null

const missingVariable = (names: readonly string[]) =>
  failed(
    'missing-variable',
    names.length === 0
      ? 'A parameter of the template is empty: give it a fallback'
      : `There is no value for ${[...new Set(names)].map((name) => `{{${name}}}`).join(', ')}: give it a fallback`,
  )

const failed = (code: ReasonCode, reason: string) => ({ is: 'failed' as const, code, reason })
