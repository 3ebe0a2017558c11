/** What callers notice of two contracts: what breaks them, and what is new to them. */
import type { JsonSchema } from '#runtime/documents/publish'
import { roles } from '#runtime/roles'
import type { Call, Contract } from './contract.ts'
import type { Kind, Misfit } from './misfit.ts'
import { Within } from './within.ts'

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
    for (const asked of askedAnew(call, now)) breaking.add(`${name}: ${asked}`)
    for (const changes of [
      sent(name, sentTo(call), sentTo(now)),
      answered(name, answeredBy(call), answeredBy(now)),
    ]) {
      for (const change of changes.breaking) breaking.add(change)
      for (const change of changes.added) added.add(change)
    }
  }
  for (const name of Object.keys(after.calls)) if (!before.calls[name]) added.add(`${name}: is new`)
  return { breaking: [...breaking], added: [...added] }
}

/** Its parameters and its body as the fields of one object: what holds for fields holds for them. */
function sentTo({ parameters, body }: Call): JsonSchema {
  const parts = Object.entries({ ...parameters, ...(body ? { body } : {}) })
  return {
    type: 'object',
    properties: Object.fromEntries(parts.map(([name, { schema }]) => [name, schema])),
    required: parts.filter(([, { required }]) => required).map(([name]) => name),
  }
}

function answeredBy({ answer: { headers, schema } }: Call): JsonSchema {
  const parts = [
    ...headers.map((name) => [`answer's header ${name}`, {}]),
    ...(schema ? [['answer', schema]] : []),
  ]
  return { type: 'object', properties: Object.fromEntries(parts) }
}

/** By whether it breaks, and whether it is sent or answered; null where it says nothing. */
const words: Record<
  'breaking' | 'added',
  Record<'sent' | 'answered', Record<Kind, ((misfit: Misfit) => string) | null>>
> = {
  breaking: {
    sent: {
      field: () => 'is refused now',
      required: () => 'is required now',
      default: ({ wider, narrower }) => `left out, is ${wider} instead of ${narrower}`,
      type: ({ what }) => `may no longer be ${what}`,
      value: ({ what }) => `may no longer be ${what}`,
      bound: (misfit) => `is bounded more narrowly: ${former(misfit)}`,
      form: (misfit) => `must have another form: ${former(misfit)}`,
      readOnly: () => 'is ignored now',
      others: () => 'takes no other fields any more',
    },
    answered: {
      field: () => 'is gone',
      required: () => 'may be left out now',
      default: null,
      type: ({ what }) => `may be ${what} now`,
      value: ({ what }) => `may be ${what} now`,
      bound: (misfit) => `goes beyond its bound: ${latter(misfit)}`,
      form: (misfit) => `has another form: ${latter(misfit)}`,
      readOnly: null,
      others: () => 'may have other fields now',
    },
  },
  added: {
    sent: {
      field: () => 'is new',
      required: () => 'may be left out now',
      default: null,
      type: ({ what }) => `may be ${what} now`,
      value: ({ what }) => `may be ${what} now`,
      bound: (misfit) => `is bounded less narrowly: ${latter(misfit)}`,
      form: (misfit) => `may have another form: ${latter(misfit)}`,
      readOnly: () => 'is written now',
      others: () => 'takes other fields now',
    },
    answered: {
      field: () => 'is new',
      required: () => 'is always there now',
      default: null,
      type: ({ what }) => `is no longer ${what}`,
      value: ({ what }) => `is no longer ${what}`,
      bound: (misfit) => `keeps to a bound: ${former(misfit)}`,
      form: (misfit) => `keeps to a form: ${former(misfit)}`,
      readOnly: null,
      others: () => 'has no other fields any more',
    },
  },
}
/** As the narrower was before, and as it is now. */
const former = ({ what, wider, narrower }: Misfit): string => `${what} ${narrower} → ${wider}`
const latter = ({ what, wider, narrower }: Misfit): string => `${what} ${wider} → ${narrower}`

type Comparison = (call: string, old: JsonSchema, now: JsonSchema) => Changes

/** What is sent breaks where the new allows less, what is answered where it allows more. */
function comparisons(before: Contract, after: Contract): Record<'sent' | 'answered', Comparison> {
  const comparison = (direction: 'sent' | 'answered'): Comparison => {
    const nowWider = new Within(after.schemas, before.schemas, direction)
    const oldWider = new Within(before.schemas, after.schemas, direction)
    const told = (call: string, misfits: Misfit[], of: keyof Changes): string[] =>
      misfits.flatMap((misfit) => {
        const { schema, at, kind } = misfit
        const place = schema === undefined ? `${call}: ${at.slice('.'.length)}` : `${schema}${at}`
        const change = words[of][direction][kind]?.(misfit)
        return change ? [`${place}${kind === 'default' ? ',' : ''} ${change}`] : []
      })
    return (call, old, now) => {
      const [less, more] = [nowWider.misfits(now, old), oldWider.misfits(old, now)]
      const [breaking, added] = direction === 'sent' ? [less, more] : [more, less]
      return { breaking: told(call, breaking, 'breaking'), added: told(call, added, 'added') }
    }
  }
  return { sent: comparison('sent'), answered: comparison('answered') }
}

function askedAnew(before: Call, after: Call): string[] {
  const asked: string[] = []
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
