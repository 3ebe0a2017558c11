/** Reads the submitted fields of a form, so that a refused form can be rendered again with them. */
import { controls, findTextIssue, forbiddenKeys } from './input.ts'

const everyControl = new RegExp(controls, 'g')
const submittedAtMost = 256 * 1024

/**
 * Returns the fields without forbidden characters; a file is represented by its name. They are only rendered, never
 * stored. Null if they are too large.
 */
export function readSubmittedFields(
  entries: Iterable<readonly [string, string | File]>,
): Record<string, string> | null {
  const fields: Record<string, string> = Object.create(null)
  let length = 0
  for (const [name, given] of entries) {
    const value = typeof given === 'string' ? given : given.name
    length += name.length + value.length
    if (length > submittedAtMost) return null
    if (forbiddenKeys.has(name) || findTextIssue(name) !== null) continue
    const text = value.toWellFormed().replaceAll(everyControl, '').replaceAll('\r\n', '\n')
    if (typeof given === 'string') fields[name] = text
    else if (text !== '') fields[name] = fields[name] === undefined ? text : `${fields[name]}, ${text}`
  }
  return fields
}
