/** Links of a tool's result: the read that follows work in the background, and files. */
import type { CallToolResult, InputRequiredResult, ResourceLink } from '@modelcontextprotocol/server'
import type { LoadedOperation, Registry } from '#runtime/registry/loaded'
import { findMonitor } from '#runtime/registry/monitor'

/** Arguments of `read_operation`. */
export type Follow = { operationId: string; path: Record<string, string>; query: Record<string, string> }

/** Converts the `Location` of a 202 into arguments of `read_operation`. */
export function toFollow(
  { operations }: Registry,
  { spec }: LoadedOperation,
  location: string | undefined,
): Follow | null {
  const read = spec.monitor && findMonitor(operations, spec.monitor)
  if (!read || location === undefined) return null
  const { pathname, searchParams } = new URL(location, 'http://localhost')
  const sent = pathname.split('/').slice(2)
  const path = read.spec.path
    .split('/')
    .slice(1)
    .flatMap((part, at) => (part.startsWith(':') ? [[part.slice(1), decodeURIComponent(sent[at]!)]] : []))
  return { operationId: read.id, path: Object.fromEntries(path), query: Object.fromEntries(searchParams) }
}

const linksAtMost = 20

/** Links to the files of an answer: objects with the fields `url` and `contentType`. */
export function listFiles(value: unknown): ResourceLink[] {
  if (typeof value !== 'object' || value === null) return []
  const below = Object.values(value).flatMap(listFiles)
  const { url, contentType, fileName, size } = value as Record<string, unknown>
  if (typeof url !== 'string' || typeof contentType !== 'string' || !URL.canParse(url)) {
    return below.slice(0, linksAtMost)
  }
  const name = typeof fileName === 'string' ? fileName : new URL(url).pathname.split('/').at(-1)!
  const link: ResourceLink = { type: 'resource_link', uri: url, name, mimeType: contentType }
  return [typeof size === 'number' ? { ...link, size } : link, ...below].slice(0, linksAtMost)
}

/** Removes the links from a tool's result. */
export const withoutLinks = (result: CallToolResult | InputRequiredResult): typeof result =>
  'content' in result
    ? {
        ...result,
        content: (result as CallToolResult).content.filter(({ type }) => type !== 'resource_link'),
      }
    : result
