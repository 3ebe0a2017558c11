/** What callers notice of two contracts: what breaks them, and what is new to them. */
import type { JsonSchema } from '#runtime/documents/publish'
import { roles } from '#runtime/roles'
import type { Call, Contract } from './contract.ts'
import { type Kind, type Misfit, Within } from './within.ts'

export interface Changes {
  breaking: string[]
  added: string[]
}

export function changesOf(before: Contract, after: Contract): Changes {
  const { sent, answered } = comparisons(before, after)
  const breaking = new Set<string>()
  const added = new Set<string>()
  for (const [name, call] of Object.entries(before.calls)) {
    const now = after.calls[name]
    if (!now) {
      breaking.add(`${name}: is gone`)
      continue
    }
    for (const { part, without } of partsOnlyIn(call, now)) breaking.add(`${name}: ${part} ${without}`)
    for (const asked of askedAnew(call, now)) breaking.add(`${name}: ${asked}`)
    for (const { part } of partsOnlyIn(now, call)) added.add(`${name}: ${part} is new`)
    const parameters = Object.entries(call.parameters).map(([part, { schema }]) =>
      sent(`${name}: ${part}`, schema, now.parameters[part]?.schema),
    )
    for (const changes of [
      ...parameters,
      sent(`${name}: body`, call.body?.schema, now.body?.schema),
      answered(`${name}: answer`, call.answer.schema, now.answer.schema),
    ]) {
      for (const change of changes.breaking) breaking.add(change)
      for (const change of changes.added) added.add(change)
    }
  }
  for (const name of Object.keys(after.calls)) if (!before.calls[name]) added.add(`${name}: is new`)
  return { breaking: [...breaking], added: [...added] }
}

/** By whether it breaks, and whether it is sent or answered. */
const words: Record<
  'breaking' | 'added',
  Record<'sent' | 'answered', Record<Kind, (what: string) => string>>
> = {
  breaking: {
    sent: {
      field: () => 'is refused now',
      required: () => 'is required now',
      type: (what) => `may no longer be ${what}`,
      value: (what) => `may no longer be ${what}`,
      bound: (what) => `is bounded more narrowly: ${former(what)}`,
      form: (what) => `must have another form: ${former(what)}`,
      readOnly: () => 'is ignored now',
      others: () => 'takes no other fields any more',
    },
    answered: {
      field: () => 'is gone',
      required: () => 'may be left out now',
      type: (what) => `may be ${what} now`,
      value: (what) => `may be ${what} now`,
      bound: (what) => `goes beyond its bound: ${latter(what)}`,
      form: (what) => `has another form: ${latter(what)}`,
      readOnly: () => '',
      others: () => 'may have other fields now',
    },
  },
  added: {
    sent: {
      field: () => 'is new',
      required: () => 'may be left out now',
      type: (what) => `may be ${what} now`,
      value: (what) => `may be ${what} now`,
      bound: (what) => `is bounded less narrowly: ${latter(what)}`,
      form: (what) => `may have another form: ${latter(what)}`,
      readOnly: () => 'is written now',
      others: () => 'takes other fields now',
    },
    answered: {
      field: () => 'is new',
      required: () => 'is always there now',
      type: (what) => `is no longer ${what}`,
      value: (what) => `is no longer ${what}`,
      bound: (what) => `keeps to a bound: ${former(what)}`,
      form: (what) => `keeps to a form: ${former(what)}`,
      readOnly: () => '',
      others: () => 'has no other fields any more',
    },
  },
}
/** `maxLength <of the narrower>, <of the wider>`, told as `<before> → <after>`. */
const former = (what: string): string => what.replace(', ', ' → ')
const latter = (what: string): string => what.replace(/^(\S+) (.*), (.*)$/, '$1 $3 → $2')

type Comparison = (place: string, old: JsonSchema | undefined, now: JsonSchema | undefined) => Changes

/** What is sent breaks where the new allows less, what is answered where it allows more. */
function comparisons(before: Contract, after: Contract): Record<'sent' | 'answered', Comparison> {
  const comparison = (direction: 'sent' | 'answered'): Comparison => {
    const nowWider = new Within(after.schemas, before.schemas, direction)
    const oldWider = new Within(before.schemas, after.schemas, direction)
    const told = (place: string, misfits: Misfit[], of: keyof Changes): string[] =>
      misfits.map(
        ({ schema, at, kind, what }) => `${schema ?? place}${at} ${words[of][direction][kind](what)}`,
      )
    return (place, old, now) => {
      if (!old || !now) return { breaking: [], added: [] }
      const [less, more] = [nowWider.misfits(now, old), oldWider.misfits(old, now)]
      const [breaking, added] = direction === 'sent' ? [less, more] : [more, less]
      return { breaking: told(place, breaking, 'breaking'), added: told(place, added, 'added') }
    }
  }
  return { sent: comparison('sent'), answered: comparison('answered') }
}

/** What a call has and another version of it has not, and what that is to callers. */
function partsOnlyIn(one: Call, other: Call): { part: string; without: string }[] {
  const sent = Object.keys(one.parameters).filter((name) => !other.parameters[name])
  if (one.body && !other.body) sent.push('body')
  const answered = one.answer.headers
    .filter((name) => !other.answer.headers.includes(name))
    .map((name) => `answer's header ${name}`)
  if (one.answer.schema && !other.answer.schema) answered.push('answer')
  return [
    ...sent.map((part) => ({ part, without: 'is refused now' })),
    ...answered.map((part) => ({ part, without: 'is gone' })),
  ]
}

function askedAnew(before: Call, after: Call): string[] {
  const asked: string[] = []
  for (const [name, { required, schema }] of Object.entries(after.parameters)) {
    const own = before.parameters[name]
    if (required && !own?.required) asked.push(`${name} is required now`)
    const [had, has] = [own?.schema.default, schema.default].map(
      (value) => JSON.stringify(value) ?? 'nothing',
    )
    if (own && had !== has) asked.push(`${name}, left out, is ${has} instead of ${had}`)
  }
  if (after.body?.required && !before.body?.required) asked.push('body is required now')
  if (before.answer.status !== after.answer.status) asked.push(`answers ${after.answer.status} now`)
  if (before.id !== after.id) asked.push(`is called ${after.id} now`)
  return [...asked, ...accessAnew(before.access, after.access)]
}

function accessAnew(had: Call['access'], has: Call['access']): string[] {
  if (!has) return []
  if (!had) return ['needs a key now']
  return [
    ...has.scopes
      .filter((scope) => !had.scopes.includes(scope))
      .map((scope) => `needs the scope ${scope} now`),
    ...(roles.indexOf(has.role) > roles.indexOf(had.role) ? [`needs the role ${has.role} now`] : []),
    ...(has.feature && has.feature !== had.feature ? [`needs the plan's feature ${has.feature} now`] : []),
  ]
}
