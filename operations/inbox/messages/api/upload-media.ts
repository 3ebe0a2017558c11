import { files } from '#operations/store/index'
import { operation } from '#runtime/operation'
import { purposes } from '../uploads.ts'

export default operation({
  method: 'POST',
  path: '/inbox/media/upload-url',
  description: 'Get a link to upload a file that will be sent or kept in a quick reply.',
  details:
    'Images (jpeg, png) to 5 MiB; videos (mp4, 3gpp) and audios (aac, amr, mpeg, mp4, ogg) to 16 MiB; documents to 100 MiB. What is not used within 24 hours is deleted.',
  words: 'attach a photo or document to a chat',
  scopes: ['platform:write'],
  readOnly: false,
  minimumRole: 'agent',
  feature: 'inbox',
  ...files.uploadOperation(purposes),
  example: { body: { fileName: 'label.pdf', contentType: 'application/pdf', size: 48213 } },
})
