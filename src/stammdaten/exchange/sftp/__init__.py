"""The SFTP server: who connects, what they see and may do, and how what they send is taken in."""
