/** How values arrive: as PGlite's do. */

const asText = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

/** Bigint as number, date and numeric as text, JSON parsed. */
export const types = {
  bigint: { to: 20, from: [20], serialize: String, parse: Number },
  date: { to: 1082, from: [1082], serialize: String, parse: (value: string) => value },
  // An instant given as text is PostgreSQL's to read: postgres.js would make a Date of it and text again.
  instant: {
    to: 1184,
    from: [1114, 1184],
    serialize: (value: string | Date) => (typeof value === 'string' ? value : value.toISOString()),
    parse: (value: string) => new Date(value),
  },
  json: { to: 3802, from: [114, 3802], serialize: asText, parse: (value: string) => JSON.parse(value) },
}
