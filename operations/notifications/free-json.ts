/** Bounds of a notification's `data`. */

const bytesAtMost = 8 * 1024
const depthAtMost = 10

/** Why `data` cannot be kept, as the end of a sentence; null when it can. Walks with a stack of its own. */
export function dataFault(data: object): string | null {
  const open: { value: unknown; depth: number }[] = [{ value: data, depth: 1 }]
  for (let next = open.pop(); next; next = open.pop()) {
    const { value, depth } = next
    if (typeof value === 'number' && !Number.isFinite(value))
      return 'must not hold a number that is not finite'
    if (typeof value !== 'object' || value === null) continue
    if (depth > depthAtMost) return `must not be more than ${depthAtMost} levels deep`
    for (const child of Object.values(value)) open.push({ value: child, depth: depth + 1 })
  }
  return Buffer.byteLength(JSON.stringify(data)) > bytesAtMost
    ? 'must not be larger than 8 KiB as JSON'
    : null
}
