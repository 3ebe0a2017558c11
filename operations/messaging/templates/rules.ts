/** Checks the content of templates (rule 3) and merges changes. Does not use the database. */

import { refuse } from '#runtime/errors'
import { toSeenText } from '#runtime/values/fold'
import { isHttpsAddress } from '#runtime/values/https'
import { requirePhone } from '#runtime/values/phone'
import type { TemplateContent } from '../provider/template-port.ts'
import { countTemplatePlaceholders, type TemplateButton } from './content.ts'
import { languages, type TemplateChange } from './schema.ts'

const bad = (field: string, problem: string) => refuse('bad_request', `${field}: ${problem}`)

/** Builds the content of a new template with its defaults. `country`: the store's country, to parse phones. */
export function buildContent(
  input: TemplateChange & { name: string; language: string; category: string; body: string },
  country: string,
): TemplateContent {
  const { name, language, category, body } = input
  const empty: TemplateContent = {
    name,
    language,
    category,
    body,
    header: null,
    footer: null,
    buttons: [],
    examples: { header: [], body: [], buttons: [] },
  }
  if (!(languages as readonly string[]).includes(language)) {
    throw bad('language', `must be one of ${languages.join(', ')}`)
  }
  if (category === 'authentication') throw bad('category', 'must be marketing or utility')
  return applyChange(empty, input, country)
}

/** Merges a change at every depth; the buttons are replaced. */
export function applyChange(
  before: TemplateContent,
  change: TemplateChange,
  country: string,
): TemplateContent {
  const { header, buttons, examples } = change
  return {
    ...before,
    category: change.category ?? before.category,
    header: header === undefined ? before.header : header && applyHeaderChange(before.header, header),
    body: change.body ?? before.body,
    footer: change.footer === undefined ? before.footer : change.footer,
    buttons: buttons?.map((button, at) => buildButton(button, at, country)) ?? before.buttons,
    examples: { ...before.examples, ...dropMissing(examples ?? {}) },
  }
}

function applyHeaderChange(
  before: TemplateContent['header'],
  change: NonNullable<TemplateChange['header']>,
): NonNullable<TemplateContent['header']> {
  const type = change.type ?? before?.type
  if (type === undefined) throw bad('header.type', 'is required')
  // With another type, the old text or file is dropped.
  const base = before?.type === type ? before : { text: null, mediaUrl: null }
  return {
    type,
    text: change.text === undefined ? base.text : change.text,
    mediaUrl: change.mediaUrl === undefined ? base.mediaUrl : change.mediaUrl,
  }
}

function buildButton(
  button: NonNullable<TemplateChange['buttons']>[number],
  at: number,
  country: string,
): TemplateButton {
  const { type, text = null, url = null, phone = null } = button
  if (type === undefined) throw bad(`buttons.${at}.type`, 'is required')
  return {
    type,
    text,
    url,
    phone: phone === null ? null : requirePhone(phone, country, `buttons.${at}.phone`),
  }
}

const dropMissing = <T extends object>(fields: T): { [K in keyof T]: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never

/** Refuses content that breaks the rules. The error names the field. */
export function refuseInvalid(content: TemplateContent): void {
  checkHeader(content.header)
  checkBody(content.body)
  if (content.footer !== null) {
    if (/[{}]/.test(content.footer)) throw bad('footer', 'must have no placeholder')
    checkLine('footer', content.footer)
  }
  checkButtons(content)
  checkExamples(content)
}

const placeholder = /\{\{([1-9]\d*)\}\}/g

/** Counts placeholders. Refuses braces that are not a placeholder, and gaps in the numbering. */
function countNumbered(field: string, text: string): number {
  const numbers = [...text.matchAll(placeholder)].map(([, number]) => Number(number))
  if (/[{}]/.test(text.replaceAll(placeholder, ''))) {
    throw bad(field, 'may have braces in placeholders such as {{1}} only')
  }
  const most = Math.max(0, ...numbers)
  const missing = new Set(numbers).size === most ? null : findFirstMissing(numbers)
  if (missing !== null) throw bad(field, `has {{${most}}} without {{${missing}}}`)
  return most
}

function findFirstMissing(numbers: readonly number[]): number {
  let next = 1
  while (numbers.includes(next)) next += 1
  return next
}

function checkHeader(header: TemplateContent['header']): void {
  if (!header) return
  const { type, text, mediaUrl } = header
  if (type === 'text') {
    if (mediaUrl !== null) throw bad('header.mediaUrl', 'does not belong to a header of type text')
    if (text === null || text.trim() === '') throw bad('header.text', 'must not be empty')
    checkPlainLine('header.text', text)
    if (countNumbered('header.text', text) > 1) throw bad('header.text', 'may have one placeholder')
  } else if (type === 'image' || type === 'video') {
    if (text !== null) throw bad('header.text', `does not belong to a header of type ${type}`)
    if (mediaUrl === null) throw bad('header.mediaUrl', `is required with a header of type ${type}`)
  } else {
    throw bad('header.type', 'must be text, image or video')
  }
}

/** Checks a text that must be a single line, such as the footer. */
function checkLine(field: string, text: string): void {
  if (/[\r\n]/.test(text)) throw bad(field, 'must be one line')
  if (/\t| {5}/.test(text)) throw bad(field, 'must have no tab, and at most four blanks in a row')
}

/** Headers and buttons are shown unchanged: the network allows no formatting in them. */
function checkPlainLine(field: string, text: string): void {
  checkLine(field, text)
  if (/[*_~`]/.test(text)) throw bad(field, 'must not have the signs * _ ~ `')
  if (/\p{Emoji_Presentation}|\uFE0F/u.test(text)) throw bad(field, 'must have no emoji')
}

const maxPlaceholders = 20

function checkBody(body: string): void {
  if (countNumbered('body', body) > maxPlaceholders) {
    throw bad('body', `may have at most ${maxPlaceholders} placeholders`)
  }
  const trimmed = body.trim()
  if (trimmed === '') throw bad('body', 'must not be empty')
  if (/^\{\{/.test(trimmed)) throw bad('body', 'must not begin with a placeholder')
  if (/\}\}$/.test(trimmed)) throw bad('body', 'must not end with a placeholder')
  if (!/[\p{L}\p{N}]/u.test(body.replaceAll(placeholder, ''))) {
    throw bad('body', 'must have words besides its placeholders')
  }
  if (body.includes('}}{{')) throw bad('body', 'has two placeholders that touch: put words between them')
  if (/(?:\r\n|\r|\n){3}/.test(body)) throw bad('body', 'may have at most two line breaks in a row')
}

const maxButtons: Record<string, number> = { url: 2, phone: 1, 'coupon-code': 1 }
const buttonFields: Record<string, readonly ('text' | 'url' | 'phone')[]> = {
  'quick-reply': ['text'],
  url: ['text', 'url'],
  phone: ['text', 'phone'],
  'coupon-code': [],
}

function checkButtons({ buttons, category }: TemplateContent): void {
  const texts = new Set<string>()
  for (const [at, button] of buttons.entries()) {
    const place = `buttons.${at}`
    for (const field of ['text', 'url', 'phone'] as const) {
      const belongs = buttonFields[button.type]!.includes(field)
      if (belongs && !button[field]?.trim()) throw bad(`${place}.${field}`, 'must not be empty')
      if (!belongs && button[field] !== null) {
        throw bad(`${place}.${field}`, `does not belong to a button of type ${button.type}: leave it out`)
      }
    }
    if (button.text !== null) {
      if (/[{}]/.test(button.text)) throw bad(`${place}.text`, 'must have no placeholder')
      checkPlainLine(`${place}.text`, button.text)
      if (texts.has(toSeenText(button.text))) throw bad(`${place}.text`, 'is the text of another button')
      texts.add(toSeenText(button.text))
    }
    if (button.url !== null) checkUrl(`${place}.url`, button.url)
    if (button.type === 'coupon-code' && category !== 'marketing') {
      throw bad(`${place}.type`, 'coupon-code is for marketing templates')
    }
  }
  for (const [type, atMost] of Object.entries(maxButtons)) {
    if (buttons.filter((button) => button.type === type).length > atMost) {
      throw bad('buttons', `may have at most ${atMost} of type ${type}`)
    }
  }
  const kinds = buttons.map((button) => (button.type === 'quick-reply' ? 'q' : 'o')).join('')
  if (!/^(q*o*|o*q*)$/.test(kinds)) {
    throw bad('buttons', 'must have the quick replies together, before or after all others')
  }
}

function checkUrl(field: string, url: string): void {
  const count = countNumbered(field, url)
  if (count > 1 || (url.match(placeholder)?.length ?? 0) > 1) throw bad(field, 'may have one placeholder')
  if (count === 1 && !url.endsWith('{{1}}')) throw bad(field, 'may have its placeholder at its end only')
  const fixed = url.replaceAll(placeholder, '')
  if (!isHttpsAddress(fixed)) {
    throw bad(field, 'must be an https address')
  }
}

function checkExamples(content: TemplateContent): void {
  const needed = countTemplatePlaceholders(content)
  for (const part of ['header', 'body', 'buttons'] as const) {
    const has = content.examples[part].length
    if (has !== needed[part]) {
      throw bad(`examples.${part}`, `needs one for each placeholder: ${needed[part]}, and has ${has}`)
    }
    for (const [at, example] of content.examples[part].entries()) {
      if (example.trim() === '') throw bad(`examples.${part}.${at}`, 'must not be blank')
      checkLine(`examples.${part}.${at}`, example)
    }
  }
}

/** Whether two contents are equal, ignoring the order of keys. */
export const isSameContent = (a: TemplateContent, b: TemplateContent): boolean => sorted(a) === sorted(b)

/** Compares without examples and header files, because the network returns those in another form. */
export const isSameToReaders = (a: TemplateContent, b: TemplateContent): boolean =>
  sorted(toReaderView(a)) === sorted(toReaderView(b))

const toReaderView = ({ examples: _examples, header, ...content }: TemplateContent): unknown => ({
  ...content,
  header: header && { type: header.type, text: header.text },
})

const sorted = (value: unknown): string =>
  JSON.stringify(value, (_key, each: unknown) =>
    each !== null && typeof each === 'object' && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).sort(([x], [y]) => (x < y ? -1 : 1)))
      : each,
  )
