/** Limits of a notification's `data`. */

const maxBytes = 8 * 1024
const maxDepth = 10

/**
 * Returns why `data` cannot be stored, as the end of an error message, or null if it can. It does not recurse, so deep
 * data cannot overflow the stack.
 */
export function findDataIssue(data: object): string | null {
  const open: { value: unknown; depth: number }[] = [{ value: data, depth: 1 }]
  for (let next = open.pop(); next; next = open.pop()) {
    const { value, depth } = next
    if (typeof value === 'number' && !Number.isFinite(value))
      return 'must not hold a number that is not finite'
    if (typeof value !== 'object' || value === null) continue
    if (depth > maxDepth) return `must not be more than ${maxDepth} levels deep`
    for (const child of Object.values(value)) open.push({ value: child, depth: depth + 1 })
  }
  return Buffer.byteLength(JSON.stringify(data)) > maxBytes ? 'must not be larger than 8 KiB as JSON' : null
}
