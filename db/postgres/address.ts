/**
 * Parses addresses as libpq does (PostgreSQL's manual, "Connection URIs"); postgres.js supports less. Parameters
 * (`?host=…&port=…&user=…&password=…&dbname=…`) override the part before the `?`. A host that begins with a slash
 * (`%2F` before the `?`) is the folder of a unix socket. IPv6 addresses have brackets, and database names are decoded.
 */

import { type ConnectionParameters, ParameterError, parseParameters } from './parameters.ts'

/** Options of postgres.js, which reads missing ones from the url and from variables such as PGUSER. */
export interface PostgresAddress {
  url: string
  options: {
    /** The servers to try, in order. */
    host?: string[]
    port?: number[]
    /** The file of the server's socket. */
    path?: string
    user?: string
    password?: string
    database?: string
  } & ConnectionParameters['options']
}

const defaultPort = '5432'
const named = ['host', 'port', 'user', 'password', 'dbname']
/** Parses an address; throws if it is invalid. */
export function parseAddress(text: string): PostgresAddress {
  // As URLs are parsed: surrounding blanks and line breaks are ignored, a `#` ends it, and the password may contain an
  // `@`.
  const clean = text
    .trim()
    .replace(/[\t\n\r]/g, '')
    .split('#', 1)[0]!
  const found = /^[a-z]+:\/\/(?:([^/?]*)@)?([^/?@]*)(?:\/([^?]*))?(?:\?(.*))?$/i.exec(clean)
  if (!found) throw new Error('This is no address')
  const [, credentials = '', servers = '', path = '', query = ''] = found
  const [, user = '', password = ''] = /^([^:]*)(?::(.*))?$/.exec(credentials)!
  const namedParameters = new Map<string, string>()
  const rest: string[] = []
  for (const each of query.split('&').filter(Boolean)) {
    const name = each.split('=', 1)[0]!
    if (named.includes(name)) namedParameters.set(name, decodeURIComponent(each.slice(name.length + 1)))
    else rest.push(each)
  }
  const who = {
    user: namedParameters.get('user') || decodeURIComponent(user),
    password: namedParameters.get('password') || decodeURIComponent(password),
    database: namedParameters.get('dbname') || decodeLeniently(path),
  }
  const known = Object.fromEntries(Object.entries(who).filter(([, value]) => value !== ''))
  const places = parseServers(servers, namedParameters.get('host') || '', namedParameters.get('port') || '')
  const [{ host, port }] = places as [ServerAddress, ...ServerAddress[]]
  const isSocket = host.startsWith('/')
  // A socket is never encrypted: libpq ignores ssl parameters there too.
  const parameters = parseParameters(isSocket ? rest.filter((each) => !each.startsWith('ssl')) : rest)
  const { session, options } = parameters
  return {
    url: `postgres://localhost/${session.length > 0 ? `?${session.join('&')}` : ''}`,
    options: isSocket
      ? { ...known, ...options, path: `${host}/.s.PGSQL.${port}`, ssl: false }
      : {
          ...known,
          ...options,
          host: places.map((each) => each.host),
          port: places.map((each) => each.port),
        },
  }
}

/** Describes an address without its password, for messages. `place`: hosts and ports, or the file of the socket. */
export function describeAddress(text: string): { place: string; user: string; database: string } {
  const { host = [], port = [], path, user = '', database = '' } = parseAddress(text).options
  const hosts = host.map((each, at) => `${each.includes(':') ? `[${each}]` : each}:${port[at]}`)
  return { place: path ?? hosts.join(','), user, database }
}

/** Why an address is not accepted, for the operator; null if it is. */
export function findAddressFault(text: string): string | null {
  try {
    parseAddress(text)
    return null
  } catch (error) {
    return error instanceof ParameterError
      ? error.message
      : 'must be an address such as postgres://user:password@host:5432/database'
  }
}

interface ServerAddress {
  host: string
  port: number
}

/** Parses the servers, which are separated by commas before the `?`, in parameters, and in the default PGHOST. */
function parseServers(servers: string, host: string, port: string): ServerAddress[] {
  const each = (servers || process.env.PGHOST || 'localhost').split(',').map((one) => {
    if (one.startsWith('/')) return { host: one, port: '' }
    const found = /^(?:\[(.*)\]|([^[\]:]*))(?::(\d*))?$/.exec(one)
    if (!found) throw new Error('This is no host and port')
    const [, literal, name, own = ''] = found
    return { host: literal ?? (decodeURIComponent(name!) || 'localhost'), port: own }
  })
  const hosts = host ? host.split(',') : each.map((one) => one.host)
  const ports = port ? port.split(',') : each.map((one) => one.port)
  // The first port applies to all hosts, as in postgres.js; but not with PGHOST, which has PGPORT.
  const shared = port || servers ? ports[0] : ''
  const places = hosts.map((one, at) => ({
    host: one,
    port: Number(ports[at] || shared || process.env.PGPORT || defaultPort),
  }))
  if (places.some((one) => !(one.port > 0 && one.port < 65_536))) throw new Error('This is no port')
  if (places.length > 1 && places.some((one) => one.host.startsWith('/')))
    throw new Error('A socket stands alone')
  return places
}

/** Decodes a name; a name that is not percent-encoded stays unchanged. */
function decodeLeniently(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
