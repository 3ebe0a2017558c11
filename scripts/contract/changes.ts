/** Compares two contracts, and lists breaking changes and additions. */
import type { JsonSchema } from '#runtime/documents/publish'
import { roles } from '#runtime/roles'
import { compareSchemas } from './comparison.ts'
import type { Access, Call, Contract } from './contract.ts'
import { breaking, type Direction, type Misfit } from './keywords.ts'

export interface Changes {
  breaking: string[]
  added: string[]
}

export function compareContracts(before: Contract, after: Contract): Changes {
  const [sent, answered] = [
    createComparison('sent', before, after),
    createComparison('answered', before, after),
  ]
  const all = Object.entries(before.calls).flatMap(([name, call]): Changes[] => {
    const now = after.calls[name]
    if (!now) return [{ breaking: [`${name}: is gone`], added: [] }]
    const asked = newDemands(call, now).map((demand) => `${name}: ${demand}`)
    return [
      { breaking: asked, added: [] },
      sent(name, call.sent, now.sent),
      answered(name, call.answered, now.answered),
    ]
  })
  const calls = Object.keys(after.calls).filter((name) => !before.calls[name])
  return {
    breaking: [...new Set(all.flatMap(({ breaking }) => breaking))],
    added: [...new Set([...all.flatMap(({ added }) => added), ...calls.map((name) => `${name}: is new`)])],
  }
}

/**
 * Compares two schemas. A request's change breaks callers if the new schema allows less, an answer's if it allows more.
 */
function createComparison(direction: Direction, before: Contract, after: Contract) {
  const nowWider = compareSchemas(after.schemas, before.schemas, direction)
  const oldWider = compareSchemas(before.schemas, after.schemas, direction)
  return (call: string, old: JsonSchema, now: JsonSchema): Changes => {
    const [less, more] = [nowWider(now, old), oldWider(old, now)]
    const [worse, better] = direction === 'sent' ? [less, more] : [more, less]
    return {
      breaking: worse.flatMap((misfit) => toSentences(call, misfit, breaking[misfit.kind][direction])),
      added: better.flatMap((misfit) => toSentences(call, misfit, misfit.kind === 'field' ? 'is new' : null)),
    }
  }
}

function toSentences(call: string, misfit: Misfit, text: string | null): string[] {
  if (!text) return []
  const { schema, at, kind } = misfit
  const place = schema === undefined ? `${call}: ${at.slice('.'.length)}` : `${schema}${at}`
  const words = text.replace(/\{(what|wider|narrower)\}/g, (_, key: 'what') => `${misfit[key]}`)
  return [`${place}${kind === 'default' ? ',' : ''} ${words}`]
}

function newDemands(before: Call, after: Call): string[] {
  const demands = [
    before.status !== after.status && `answers ${after.status} now`,
    before.id !== after.id && `is called ${after.id} now`,
    !before.access && after.access && 'needs a key now',
    ...(before.access && after.access ? newAccess(before.access, after.access) : []),
  ]
  return demands.filter((each) => typeof each === 'string')
}

const newAccess = (had: Access, has: Access) => [
  ...has.scopes.filter((each) => !had.scopes.includes(each)).map((scope) => `needs the scope ${scope} now`),
  roles.indexOf(has.role) > roles.indexOf(had.role) && `needs the role ${has.role} now`,
  has.feature && has.feature !== had.feature && `needs the plan's feature ${has.feature} now`,
]
