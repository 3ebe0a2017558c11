/**
 * Parses a provider's `Retry-After`, or another header of its kind, to milliseconds. It is a number of seconds or a date
 * (RFC 9110, 10.2.3), which is compared with the answer's own `Date`, as the clocks may differ. Returns `otherwise` if it
 * is missing, unreadable or in the past.
 */
export function parseRetryAfter<T>(headers: Headers, otherwise: T, name = 'retry-after'): number | T {
  const text = headers.get(name)?.trim() ?? ''
  const ms = /^\d+(\.\d+)?$/.test(text)
    ? Number(text) * 1000
    : Date.parse(text) - Date.parse(headers.get('date') ?? '')
  return ms > 0 ? ms : otherwise
}
