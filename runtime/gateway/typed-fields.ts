/** A form's fields once more, for whoever filled them in. */
import { controls, forbiddenKeys, wrongWith } from './input.ts'

const everyControl = new RegExp(controls, 'g')
const typedAtMost = 256 * 1024

/**
 * What a form was filled in with, of files their names: to be shown again, never to be kept, and so without what no
 * text may hold. Null where it is more than is sent back.
 */
export function typedFields(
  entries: Iterable<readonly [string, string | File]>,
): Record<string, string> | null {
  const fields: Record<string, string> = Object.create(null)
  let length = 0
  for (const [name, given] of entries) {
    const value = typeof given === 'string' ? given : given.name
    length += name.length + value.length
    if (length > typedAtMost) return null
    if (forbiddenKeys.has(name) || wrongWith(name) !== null) continue
    const text = value.toWellFormed().replaceAll(everyControl, '').replaceAll('\r\n', '\n')
    if (typeof given === 'string') fields[name] = text
    else if (text !== '') fields[name] = fields[name] === undefined ? text : `${fields[name]}, ${text}`
  }
  return fields
}
