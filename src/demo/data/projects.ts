import type { Tenant } from '../tenants.ts';

/** A project as the demo platform sends it. Portico's contract has the first four fields only. */
export interface DemoProject {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly createTime: string;
  readonly updateTime: string;
  readonly environment: 'PRODUCTION' | 'STAGING' | 'CORPORATE';
  /** Whose callers see it. */
  readonly tenants: readonly Tenant[];
}

/** Seven that Alice sees and six that Bob sees; one is shared. */
export const projects: readonly DemoProject[] = [
  {
    id: 'online-banking',
    name: 'Online banking',
    description: 'Retail web and mobile banking: public endpoints, session handling and transfers.',
    createTime: '2023-02-14T09:12:44Z',
    updateTime: '2025-08-21T06:30:02Z',
    environment: 'PRODUCTION',
    tenants: ['harbour-bank'],
  },
  {
    id: 'card-payments',
    name: 'Card payments (PCI DSS)',
    description: 'Cardholder data environment; scanned quarterly by an approved vendor.',
    createTime: '2023-03-02T13:40:10Z',
    updateTime: '2025-09-01T22:15:37Z',
    environment: 'PRODUCTION',
    tenants: ['harbour-bank'],
  },
  {
    id: 'core-ledger',
    name: 'Core ledger',
    description: 'Double-entry ledger and its message queues, reachable from inside only.',
    createTime: '2023-05-19T07:55:00Z',
    updateTime: '2025-07-11T10:01:59Z',
    environment: 'PRODUCTION',
    tenants: ['harbour-bank'],
  },
  {
    id: 'branch-network-zurich',
    name: 'Branch network Zürich',
    description: 'Offices, cash machines & the VPN concentrators behind them.',
    createTime: '2023-11-06T15:20:31Z',
    updateTime: '2025-06-30T05:00:00Z',
    environment: 'CORPORATE',
    tenants: ['harbour-bank'],
  },
  {
    id: 'open-banking-api',
    name: 'Open banking API',
    description: 'PSD2 account and payment interfaces for third parties.',
    createTime: '2024-01-22T08:00:12Z',
    updateTime: '2025-09-04T18:47:20Z',
    environment: 'PRODUCTION',
    tenants: ['harbour-bank'],
  },
  {
    id: 'fraud-analytics',
    name: 'Fraud analytics',
    description: 'Streaming scores of transactions: "deny, step up or pass".',
    createTime: '2024-09-30T11:05:48Z',
    updateTime: '2025-08-02T12:12:12Z',
    environment: 'STAGING',
    tenants: ['harbour-bank'],
  },
  {
    id: 'shared-threat-intel',
    name: 'Shared threat intelligence',
    description: 'Indicators that both organisations contribute to and may act on.',
    createTime: '2024-02-29T23:59:59Z',
    updateTime: '2025-09-05T04:10:00Z',
    environment: 'CORPORATE',
    tenants: ['harbour-bank', 'kestrel-health'],
  },
  {
    id: 'patient-portal',
    name: 'Patient portal',
    description: 'Appointments, results and messages; holds health data of 400,000 patients.',
    createTime: '2023-04-11T10:30:00Z',
    updateTime: '2025-08-28T16:22:41Z',
    environment: 'PRODUCTION',
    tenants: ['kestrel-health'],
  },
  {
    id: 'imaging-archive',
    name: 'Imaging archive',
    description: 'DICOM store and viewers of the radiology departments.',
    createTime: '2023-08-25T06:45:19Z',
    updateTime: '2025-05-14T09:09:09Z',
    environment: 'PRODUCTION',
    tenants: ['kestrel-health'],
  },
  {
    id: 'infusion-pumps',
    name: 'Infusion pumps',
    description: 'Firmware and gateways of networked medical devices. Passive scans only!',
    createTime: '2024-04-03T14:18:27Z',
    updateTime: '2025-07-29T20:35:55Z',
    environment: 'PRODUCTION',
    tenants: ['kestrel-health'],
  },
  {
    id: 'clinic-sao-paulo',
    name: 'Clinic São Paulo',
    description: 'Site network and endpoints of the clinic that joined in 2024.',
    createTime: '2024-10-17T17:00:00Z',
    updateTime: '2025-08-15T13:50:30Z',
    environment: 'CORPORATE',
    tenants: ['kestrel-health'],
  },
  {
    id: 'research-cluster',
    name: 'Research cluster',
    description: '',
    createTime: '2025-01-08T08:08:08Z',
    updateTime: '2025-06-18T11:11:11Z',
    environment: 'STAGING',
    tenants: ['kestrel-health'],
  },
];
