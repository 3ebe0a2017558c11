/** Opens the adapters of this server: its own mail and storage, and the adapters of the ports that sections provide. */
import { join } from 'node:path'
import { makePrivateFolder } from '#db/private-folder'
import type { MergedExtensions } from '#runtime/extensions'
import type { Settings } from '#runtime/server/settings'
import type { Clock } from '../clock.ts'
import { deriveSecrets } from '../secrets.ts'
import type { MailPort } from './mail/port.ts'
import { openMail } from './mail/providers.ts'
import type { SectionPorts } from './ports.ts'
import type { PortContext } from './spec.ts'
import { diskFiles, diskStorage } from './storage/disk.ts'
import type { StoragePort } from './storage/port.ts'
import { s3Storage } from './storage/s3.ts'

interface OwnAdapters {
  readonly mail: MailPort
  readonly storage: StoragePort
  /** Answers requests to `/files/…`; null unless files are stored on this server's disk. */
  readonly files: ((request: Request) => Promise<Response>) | null
  close(): Promise<void>
}
/** The adapters of the sections' ports: by the port's name, then by the provider's name. */
export type SectionAdapters = {
  readonly [Port in keyof SectionPorts]: Readonly<Record<string, SectionPorts[Port]>>
}
export type Adapters = OwnAdapters & SectionAdapters

export async function openAdapters(
  ports: MergedExtensions['ports'],
  opening: PortContext,
): Promise<Adapters> {
  const { settings, database, clock } = opening
  const { storage, files } = await openStorage(settings, clock)
  const { mailUrl: url, mailFrom: from, publicUrl } = settings
  const { mail, close } = await openMail({ url, from, publicUrl, database, clock })
  const opened = await Promise.all(
    Object.entries(ports).map(async ([name, port]) => [name, await port.open(opening)] as const),
  )
  return { mail, storage, files, close, ...(Object.fromEntries(opened) as SectionAdapters) }
}

async function openStorage(
  settings: Settings,
  clock: Clock,
): Promise<Pick<OwnAdapters, 'storage' | 'files'>> {
  if (settings.storageUrl !== 'disk')
    return { storage: await s3Storage({ url: settings.storageUrl }), files: null }
  const dir = join(settings.dataDir, 'files')
  makePrivateFolder(dir, { forGroup: true })
  const options = {
    dir,
    publicUrl: settings.publicUrl,
    secrets: deriveSecrets(settings, 'files'),
    clock,
  }
  return { storage: diskStorage(options), files: diskFiles(options) }
}
