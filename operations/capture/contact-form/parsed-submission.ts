/** Parses a submitted contact form according to its settings. No database access. */

import { refuse } from '#runtime/errors'
import { readEmail } from '#runtime/schema'
import { isSeenAs } from '#runtime/values/fold'
import { requirePhone } from '#runtime/values/phone'
import { countCharacters, truncate } from '#runtime/values/truncate'
import { parseName } from '../schema.ts'
import { isOwnKey } from './form-rules.ts'
import type { FormField, FormSettings } from './form-schema.ts'
import type { SubmitBody } from './submit-schema.ts'

export interface ParsedSubmission {
  name: string | null
  email: string | null
  /** The phone in E.164. */
  phone: string | null
  message: string | null
  values: Record<string, string | boolean>
}

const lengths = { text: 200, email: 254, phone: 40, textarea: 5000, select: 80 } as const

/** Parses a submission. Refuses missing, unknown and invalid fields, naming the key. */
export function parseSubmission(
  settings: FormSettings,
  { values, consent }: SubmitBody,
  country: string,
): ParsedSubmission {
  const keys = new Set(settings.fields.map(({ key }) => key))
  const unknown = Object.keys(values).find((key) => !keys.has(key))
  if (unknown !== undefined)
    throw refuse('bad_request', `values.${truncate(unknown, 60)}: is not a known field`)
  if (settings.consentRequired && !consent) throw refuse('bad_request', 'consent: must be ticked')
  const read = new Map<string, string | boolean>()
  for (const field of settings.fields) {
    const value = readField(field, Object.hasOwn(values, field.key) ? values[field.key] : undefined, country)
    if (value !== null) read.set(field.key, value)
  }
  const own = (key: string): string | null => (read.get(key) as string | undefined) ?? null
  return {
    name: parseName(own('name') ?? undefined),
    email: own('email'),
    phone: own('phone'),
    message: own('message'),
    values: Object.fromEntries([...read].filter(([key]) => !isOwnKey(key))),
  }
}

/** Parses the value of a field; null if no value was given. */
function readField(field: FormField, given: unknown, country: string): string | boolean | null {
  const refusal = (why: string) => refuse('bad_request', `values.${field.key}: ${why}`)
  if (field.type === 'checkbox') {
    if (given !== undefined && typeof given !== 'boolean') throw refusal('must be true or false')
    if (field.required && given !== true) throw refusal('must be ticked')
    return given ?? null
  }
  if (given !== undefined && typeof given !== 'string') throw refusal('must be text')
  const text = given?.trim() ?? ''
  if (text === '') {
    if (field.required) throw refusal('is required')
    return null
  }
  if (countCharacters(text) > lengths[field.type]) {
    throw refusal(`must have at most ${lengths[field.type]} characters`)
  }
  if (field.type === 'select') {
    const chosen = field.options?.find((option) => isSeenAs(option, text))
    if (chosen === undefined) throw refusal('must be one of its options')
    return chosen
  }
  if (field.type === 'email') {
    const email = readEmail(text)
    if (email === null) throw refusal('must be an email address')
    return email
  }
  return field.type === 'phone' ? requirePhone(text, country, `values.${field.key}`) : text
}
