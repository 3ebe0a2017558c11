/**
 * Addresses as libpq reads them (PostgreSQL's manual, "Connection URIs"), where postgres.js reads less: what is asked for
 * by name (`?host=…&port=…&user=…&password=…&dbname=…`) goes before what stands in front, and a host that begins with a
 * slash, `%2F` where it stands in front, is the folder of a unix socket.
 */

/** What postgres.js is given. */
export interface PostgresAddress {
  url: string
  /** The file of the server's socket, or the servers to try, one after the other; none: as PGHOST has it. */
  options: { path?: string; ssl?: false; host?: string[]; port?: number[] }
}

const shape = /^([a-z]+:\/\/)(?:([^/?]*)@)?([^/?]*)\/?([^?]*)\??(.*)$/i
const usualPort = '5432'

export function readAddress(text: string): PostgresAddress {
  const [, scheme = '', credentials = '', servers = '', path = '', query = ''] = shape.exec(text) ?? []
  const asked = new URLSearchParams(query)
  const named = (name: string): string | null => {
    const value = asked.get(name)
    asked.delete(name)
    return value || null
  }
  const [, standingUser = '', standingPassword = ''] = /^([^:]*):?(.*)$/.exec(credentials) ?? []
  const user = encoded(named('user')) ?? standingUser
  const password = encoded(named('password')) ?? standingPassword
  const database = encoded(named('dbname')) ?? path
  const { hosts, ports } = placesOf(servers, named('host'), named('port'))
  const portOf = (_: unknown, index = 0): string => ports[index] || ports[0] || usualPort
  const isSocket = hosts[0]!.startsWith('/')
  // Nothing is encrypted on a socket: libpq does not look at it there either.
  if (isSocket) asked.delete('sslmode')
  const who = password ? `${user}:${password}@` : user && `${user}@`
  return {
    url: `${scheme}${who}${who || isSocket ? 'localhost' : ''}/${database}${asked.size > 0 ? `?${asked}` : ''}`,
    options: isSocket
      ? { path: `${hosts[0]}/.s.PGSQL.${portOf(hosts[0])}`, ssl: false }
      : hosts.every(Boolean)
        ? { host: hosts, port: hosts.map(portOf).map(Number) }
        : {},
  }
}

/** As people are told of it, without the password. `place`: its host and port, or the file of its socket. */
export function describeAddress(text: string): { place: string; user: string; database: string } {
  const { url, options } = readAddress(text)
  const { path, host = ['localhost'], port = [] } = options
  const { username, pathname } = new URL(url)
  return {
    place: path ?? host.map((each, index) => `${each}:${port[index] ?? usualPort}`).join(','),
    user: decodeURIComponent(username),
    database: decodeURIComponent(pathname.slice(1)),
  }
}

/** Whether all of it can be read. */
export function isAddress(text: string): boolean {
  try {
    describeAddress(text)
    const { url, options } = readAddress(text)
    decodeURIComponent(new URL(url).password)
    return (options.port ?? []).every((port) => port > 0 && port < 65_536)
  } catch {
    return false
  }
}

/** Several stand with commas between them, in either place. */
function placesOf(standing: string, host: string | null, port: string | null) {
  const each = standing
    .split(',')
    .map((one) => /^(?:\[(.*)\]|([^:]*)):?(\d*)$/.exec(one) ?? ['', '', one, ''])
  return {
    hosts: host?.split(',') ?? each.map(([, literal, name]) => literal ?? decodeURIComponent(name!)),
    ports: port?.split(',') ?? each.map(([, , , own]) => own!),
  }
}

const encoded = (value: string | null): string | null => value && encodeURIComponent(value)
