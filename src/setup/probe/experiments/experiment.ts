import type { ResourceConfig } from '../../../core/config/schema/settings.ts';
import type { CredentialSettings } from '../../../core/credentials/credential-form.ts';
import type { Resource } from '../../../core/resources/resource.ts';
import type { TappedRequest } from '../../../core/upstream/client/tap.ts';
import type { Look } from '../page-look.ts';
import type { Finding } from '../probe-report.ts';
import type { Try } from './trials.ts';

/** A read that succeeded, as experiments see it. */
export interface Subject {
  readonly resource: Resource;
  readonly settings: ResourceConfig;
  readonly credential: CredentialSettings;
  /** Whether the settings file has a key of the resource. */
  readonly isWritten: (key: string) => boolean;
  readonly request: TappedRequest;
  readonly first: Look;
  /** Number of items that came, before `where`. */
  readonly received: number;
  /** Number of items that are served. */
  readonly items: number;
  /** How many of them took the default of a field. */
  readonly defaulted: ReadonlyMap<string, number>;
  readonly attempt: Try;
}

export interface Experiment {
  readonly name: string;
  /** Rejects with `NotTried` if it shows nothing. */
  readonly run: (subject: Subject) => readonly Finding[] | Promise<readonly Finding[]>;
}
