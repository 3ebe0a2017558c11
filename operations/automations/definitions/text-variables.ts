/** Validates the variables in an automation's texts (rule 2). No database. */
import { refuse } from '#runtime/errors'
import { parseVariables } from '#runtime/values/variables'
import { kinds } from '../kinds.ts'
import type { AutomationMessage, AutomationType } from '../types.ts'

/**
 * Refuses a variable that the type does not have, or a coupon variable in a message before which no coupon is issued
 * (`hasCoupon` is false). Error messages start with `field`.
 */
export function refuseVariables(
  type: AutomationType,
  message: AutomationMessage,
  hasCoupon: boolean,
  field: string,
): void {
  for (const [name, text] of listTexts(message)) {
    const issue = findIssue(type, text, hasCoupon)
    if (issue) throw refuse('bad_request', `${field}.${name}: ${issue}`)
  }
}

function* listTexts({ text, templateParameters }: AutomationMessage): Generator<[string, string]> {
  if (text !== null) yield ['text', text]
  for (const part of ['header', 'body', 'buttons'] as const) {
    for (const [i, each] of templateParameters[part].entries())
      yield [`templateParameters.${part}.${i}`, each]
  }
}

function findIssue(type: AutomationType, text: string, hasCoupon: boolean): string | null {
  const parsed = parseVariables(text)
  if ('issue' in parsed) return parsed.issue
  const { variables, couponVariables } = kinds[type]
  for (const part of parsed.parts) {
    if (typeof part === 'string' || variables.includes(part.name)) continue
    const { name } = part
    if (couponVariables.includes(name)) {
      if (hasCoupon) continue
      return `has the variable {{${name}}}, but no coupon is made before it on every way there`
    }
    const known = [...variables, ...(hasCoupon ? couponVariables : [])].join(', ')
    return `has the variable {{${name}}}, which ${type} does not have: use ${known}`
  }
  return null
}
