/** Pages of the stand-in's connections. */
import { GraphQLError } from 'graphql'

export interface GraphObject {
  __typename: string
  [field: string]: unknown
}

export interface PageArgs {
  first?: number | null
  after?: string | null
  reverse?: boolean
}

const objectsAtMost = 25_000

const refused = (message: string, code: string) => new GraphQLError(message, { extensions: { code } })

const toCursor = (place: number): string => Buffer.from(`place:${place}`).toString('base64')

/** A page of a connection, by an opaque cursor. */
export function connection<T extends GraphObject>(all: readonly T[], { first, after, reverse }: PageArgs) {
  if (first === undefined || first === null) {
    throw refused('you must provide one of first or last', 'BAD_REQUEST')
  }
  if (first > 250) throw refused('first cannot exceed 250', 'BAD_REQUEST')
  const ordered = reverse ? [...all].reverse() : all
  const from = after ? Number(Buffer.from(after, 'base64').toString().replace('place:', '')) : 0
  if (Number.isNaN(from)) throw refused('Invalid cursor for current pagination sort.', 'BAD_REQUEST')
  const to = Math.min(from + first, objectsAtMost)
  const nodes = ordered.slice(from, to)
  return {
    nodes,
    pageInfo: {
      hasNextPage: to < Math.min(ordered.length, objectsAtMost),
      hasPreviousPage: from > 0,
      startCursor: nodes.length > 0 ? toCursor(from + 1) : null,
      endCursor: nodes.length > 0 ? toCursor(from + nodes.length) : null,
    },
  }
}
