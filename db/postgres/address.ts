/**
 * Addresses as libpq reads them (PostgreSQL's manual, "Connection URIs"), where postgres.js reads less: parameters
 * (`?host=…&port=…&user=…&password=…&dbname=…`) go before what stands in front of them, a host that begins with a slash
 * (`%2F` in front) is the folder of a unix socket, IPv6 has brackets, and names of databases are decoded.
 */

/** Options of postgres.js; it reads missing ones from the url, PGUSER, PGDATABASE and so on. */
export interface PostgresAddress {
  url: string
  options: {
    /** The servers to try, one after the other. */
    host?: string[]
    port?: number[]
    /** The file of the server's socket. */
    path?: string
    ssl?: false
    user?: string
    password?: string
    database?: string
  }
}

const usualPort = '5432'
const named = ['host', 'port', 'user', 'password', 'dbname']
/**
 * Neon's addresses ask for it, and neither postgres.js nor node-postgres binds to channels; `any` is what postgres.js does
 * by default.
 */
const ignored = /^(channel_binding=.*|target_session_attrs=any)$/

/** Throws where it cannot be read. */
export function readAddress(text: string): PostgresAddress {
  // As URLs are read: blanks around it and breaks within it are nothing, a `#` ends it, and the password may have an `@`.
  const clean = text
    .trim()
    .replace(/[\t\n\r]/g, '')
    .split('#', 1)[0]!
  const found = /^[a-z]+:\/\/(?:([^/?]*)@)?([^/?@]*)(?:\/([^?]*))?(?:\?(.*))?$/i.exec(clean)
  if (!found) throw new Error('This is no address')
  const [, credentials = '', servers = '', path = '', query = ''] = found
  const [, user = '', password = ''] = /^([^:]*)(?::(.*))?$/.exec(credentials)!
  const given = new Map<string, string>()
  const rest: string[] = []
  for (const each of query.split('&').filter(Boolean)) {
    const name = each.split('=', 1)[0]!
    if (named.includes(name)) given.set(name, decodeURIComponent(each.slice(name.length + 1)))
    else if (!ignored.test(each)) rest.push(each)
  }
  const who = {
    user: given.get('user') || decodeURIComponent(user),
    password: given.get('password') || decodeURIComponent(password),
    database: given.get('dbname') || leniently(path),
  }
  const known = Object.fromEntries(Object.entries(who).filter(([, value]) => value !== ''))
  const places = placesOf(servers, given.get('host') || '', given.get('port') || '')
  const [{ host, port }] = places as [Place, ...Place[]]
  const isSocket = host.startsWith('/')
  // Nothing is encrypted on a socket: libpq does not look at how it is asked for there either.
  const kept = isSocket ? rest.filter((each) => !each.startsWith('ssl')) : rest
  return {
    url: `postgres://localhost/${kept.length > 0 ? `?${kept.join('&')}` : ''}`,
    options: isSocket
      ? { ...known, path: `${host}/.s.PGSQL.${port}`, ssl: false }
      : { ...known, host: places.map((each) => each.host), port: places.map((each) => each.port) },
  }
}

/** For people, without the password. `place`: its hosts and ports, or the file of its socket. */
export function describeAddress(text: string): { place: string; user: string; database: string } {
  const { host = [], port = [], path, user = '', database = '' } = readAddress(text).options
  const shown = host.map((each, at) => `${each.includes(':') ? `[${each}]` : each}:${port[at]}`)
  return { place: path ?? shown.join(','), user, database }
}

/** Whether all of it can be read. */
export function isAddress(text: string): boolean {
  try {
    readAddress(text)
    return true
  } catch {
    return false
  }
}

interface Place {
  host: string
  port: number
}

/** Several have commas between them, in either place, and in PGHOST where the address names none. */
function placesOf(servers: string, host: string, port: string): Place[] {
  const each = (servers || process.env.PGHOST || 'localhost').split(',').map((one) => {
    if (one.startsWith('/')) return { host: one, port: '' }
    const found = /^(?:\[(.*)\]|([^[\]:]*))(?::(\d*))?$/.exec(one)
    if (!found) throw new Error('This is no host and port')
    const [, literal, name, own = ''] = found
    return { host: literal ?? (decodeURIComponent(name!) || 'localhost'), port: own }
  })
  const hosts = host ? host.split(',') : each.map((one) => one.host)
  const ports = port ? port.split(',') : each.map((one) => one.port)
  // The first is that of all, as postgres.js has it; but not of PGHOST, where PGPORT is.
  const shared = port || servers ? ports[0] : ''
  const places = hosts.map((one, at) => ({
    host: one,
    port: Number(ports[at] || shared || process.env.PGPORT || usualPort),
  }))
  if (places.some((one) => !(one.port > 0 && one.port < 65_536))) throw new Error('This is no port')
  if (places.length > 1 && places.some((one) => one.host.startsWith('/')))
    throw new Error('A socket stands alone')
  return places
}

/** Decodes a name; a name that is not percent-encoded stays unchanged. */
function leniently(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
