/** What the machine refuses at a start, said as a setting with its remedy: by the system's codes, the driver's and PostgreSQL's. */
import { ConnectionLost, DatabaseSilent } from '#db/deadlines'
import { describeAddress } from '#db/postgres/address'

type Sentence<Of> = (of: Of, error: NodeJS.ErrnoException) => string
type Sentences<Of> = Readonly<Record<string, Sentence<Of>>>
interface Listening {
  host: string
  port: number
}

const listening: Sentences<Listening> = {
  EADDRINUSE: ({ host, port }) =>
    `PORT: ${port} on ${host} is taken by another program: choose another PORT, or 0 for a free one`,
  EACCES: ({ port }) =>
    `PORT: ${port} is kept for privileged programs: choose one from 1024 on, and let a proxy pass ${port} on to it`,
  EADDRNOTAVAIL: ({ host }) =>
    `HOST: ${host} is no address of this machine: choose one that it has, 127.0.0.1, or 0.0.0.0 for all of them`,
  ENOTFOUND: ({ host }) =>
    `HOST: ${host} is not known here: give an address of this machine, such as 127.0.0.1`,
}

interface Server {
  /** Its host and port, or the file of its socket. */
  place: string
  user: string
  database: string
}

const unreachable: Sentence<Server> = ({ place }, { message }) =>
  `DATABASE_URL: nothing answers at ${place}: start PostgreSQL there, or give the host and port where it listens (${message})`
const unknownHost: Sentence<Server> = ({ place }) =>
  `DATABASE_URL: the host ${place.replace(/:\d+(?=,|$)/g, '')} is not known: look for a mistake in its name, or whether this machine can resolve it`
const refused: Sentence<Server> = ({ place, user }, { message }) =>
  `DATABASE_URL: ${place} refuses the user ${user}: look at user and password (${message})`
const untrusted: Sentence<Server> = ({ place }, { message }) =>
  `DATABASE_URL: the certificate of ${place} is not trusted: give its authority by NODE_EXTRA_CA_CERTS (${message})`

/** Files are not there, or not for this user, elsewhere too. */
const bySocket =
  (sentence: Sentence<Server>): Sentence<Server> =>
  (server, error) =>
    error.syscall === 'connect' ? sentence(server, error) : ''
const noSocket = bySocket(
  ({ place }, { message }) =>
    `DATABASE_URL: there is no socket ${place}: start PostgreSQL there, or give the folder that its unix_socket_directories names (${message})`,
)

const connecting: Sentences<Server> = {
  ECONNREFUSED: unreachable,
  ECONNRESET: unreachable,
  ETIMEDOUT: unreachable,
  EHOSTUNREACH: unreachable,
  ENETUNREACH: unreachable,
  CONNECT_TIMEOUT: unreachable,
  CONNECTION_CLOSED: unreachable,
  ENOENT: noSocket,
  ENOTDIR: noSocket,
  EINVAL: noSocket, // its name is too long
  EAGAIN: bySocket(unreachable),
  EACCES: bySocket(
    ({ place }) =>
      `DATABASE_URL: the socket ${place} is not for this user: let it into the folder, or give host and port`,
  ),
  ENOTFOUND: unknownHost,
  EAI_AGAIN: unknownHost,
  '28P01': refused,
  '28000': refused,
  '3D000': ({ place, database }) =>
    `DATABASE_URL: ${place} has no database ${database}: make it (createdb), or name one that is there`,
  '42501': ({ user }, { message }) =>
    `DATABASE_URL: the user ${user} may not do what is needed: let it own the database (${message})`,
  // What else is not there, such as an extension's, is nothing of the address.
  '42704': (_, { message }) =>
    /^unrecognized configuration parameter/.test(message)
      ? `DATABASE_URL: ${message}: leave it out of the address`
      : '',
  '53300': ({ place }) =>
    `DATABASE_URL: ${place} has no connection left: raise its max_connections, or lower DATABASE_READS and DATABASE_TRANSACTIONS`,
  '57P03': ({ place }) => `DATABASE_URL: ${place} is starting or stopping: try again in a moment`,
  DEPTH_ZERO_SELF_SIGNED_CERT: untrusted,
  SELF_SIGNED_CERT_IN_CHAIN: untrusted,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: untrusted,
  ERR_TLS_CERT_ALTNAME_INVALID: untrusted,
}

function told<Of>(sentences: Sentences<Of>, of: Of, error: unknown): string | null {
  const { code } = error as NodeJS.ErrnoException
  return (typeof code === 'string' && sentences[code]?.(of, error as NodeJS.ErrnoException)) || null
}

/** Each answers one sentence for who can mend it; null where nobody knows what it is. */
export const whyNotListening = (error: unknown, at: Listening): string | null => told(listening, at, error)

export const whyNotConnected = (error: unknown, databaseUrl: string): string | null =>
  told(connecting, describeAddress(databaseUrl), error)

/** In the middle of a command. */
const lost: readonly unknown[] = [
  'CONNECTION_CLOSED',
  'CONNECTION_DESTROYED',
  'CONNECTION_ENDED',
  'CONNECT_TIMEOUT',
]
export function whyLost(error: unknown): string | null {
  const { code, syscall, address } = error as { code?: unknown; syscall?: string; address?: string }
  const isEmbedded = syscall === 'connect' && address?.endsWith('/db.sock')
  const isLost = error instanceof DatabaseSilent || error instanceof ConnectionLost
  if (!isLost && !lost.includes(code) && !isEmbedded) return null
  return 'The database went away before this was done: see that its server runs, look at what was done, and run it again'
}
