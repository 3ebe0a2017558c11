/** Answers of deprecated operations. */
import type { Deprecation } from '#runtime/operation'
import { epochDay } from '#runtime/values/days'

const daySeconds = 24 * 60 * 60

/** Builds the headers `Deprecation` (RFC 9745), `Sunset` (RFC 8594) and `Link`. */
export function buildDeprecationHeaders({ since, sunset, link }: Deprecation): Record<string, string> {
  return {
    deprecation: `@${epochDay(since) * daySeconds}`,
    ...(sunset ? { sunset: new Date(sunset).toUTCString() } : {}),
    ...(link ? { link: `<${link}>; rel="deprecation"` } : {}),
  }
}
