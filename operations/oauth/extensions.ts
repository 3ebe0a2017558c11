import { extensions } from '#runtime/extensions'
import { metadataPath } from './discovery/metadata.ts'

export default extensions({ resourceMetadata: { path: metadataPath } })
